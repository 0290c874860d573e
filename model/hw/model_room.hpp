// What the state of the model has room for: the bounds of the keys that ask for it.
#pragma once

namespace warpscope::hw {

inline constexpr int kMostSubCores = 4;     ///< sm.sub_cores
inline constexpr int kMostWarps = 64;       ///< sm.max_warps
inline constexpr int kMostCtas = 32;        ///< sm.max_ctas
inline constexpr int kMostMioEntries = 16;  ///< sm.mio.queue_entries
/// sm.icache.l0_bytes in lines: whole sets at least, and 128 KB of lines of 128 bytes.
inline constexpr int kInstructionWays = 8;
inline constexpr int kMostInstructionLines = 1024;

}  // namespace warpscope::hw

// What one warp executes: straight code, loops over ranges of it, and where its memory instructions point.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "model/trace/instruction.hpp"

namespace warpscope::trace {

inline constexpr int kMaxLoopDepth = 3;
inline constexpr std::uint16_t kSharedMemory =
    0xffff;  ///< MemoryOperand::tensor of shared-memory instructions
inline constexpr std::int16_t kNoSymbol = -1;

/// offset + sum_d per_block[d] * (blockIdx[d] / block_divisor[d]) + per_warp * warp
///        + sum_k per_iteration[k] * (iteration of the k-th enclosing loop, outermost first)
///        + per_symbol * (the CTA class's symbol number `symbol`).
struct AffineIndex {
  std::int64_t offset = 0;
  std::array<std::int64_t, 3> per_block{};
  std::array<std::int32_t, 3> block_divisor{1, 1, 1};
  std::int64_t per_warp = 0;
  std::array<std::int64_t, kMaxLoopDepth> per_iteration{};
  std::int16_t symbol = kNoSymbol;
  std::int64_t per_symbol = 0;
  /// The symbols from number `symbol` on are a table: the one of the outermost loop's iteration counts.
  bool symbol_table = false;

  bool operator==(const AffineIndex&) const = default;
};

/// One access of one warp instruction. A tensor is an array of equal segments (one per batch and head, say);
/// bytes beyond the end of the segment are not moved, as with a predicated load.
struct MemoryOperand {
  std::uint16_t tensor = kSharedMemory;  ///< index into Trace::tensors, or kSharedMemory
  AffineIndex segment;                   ///< which segment of the tensor
  AffineIndex offset;                    ///< first byte within the segment
  std::uint32_t bytes = 0;               ///< bytes of the whole warp instruction, contiguous from `offset`
  std::uint16_t wavefronts = 0;  ///< passes of the 128-byte data path, conflicts included; tensors: at least
  std::uint16_t lines = 0;  ///< 128-byte lines that hold the bytes of a tensor; 0: as few as can hold them

  bool operator==(const MemoryOperand&) const = default;
};

/// Instructions [begin, end) repeat; the last of them is the closing branch. Loops nest and never overlap
/// partly. Trips of one entry = max(0, trip_counts[trip_slot]
///                             + sum_k trips_per_iteration[k] * (iteration of the k-th enclosing loop)).
struct Loop {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  std::uint16_t trip_slot = 0;  ///< index into CtaClass::trip_counts; trips of 0 skip the loop
  /// For loops whose length depends on an outer loop, as the causal query loop of FlashAttention-1 does; zero
  /// for the loop's own depth and deeper.
  std::array<std::int32_t, kMaxLoopDepth> trips_per_iteration{};
  /// It begins where another loop ends: the machine goes through that loop's code once more, as in its last
  /// iteration, and may jump over parts of it. In memory it has no code of its own.
  bool again = false;

  bool operator==(const Loop&) const = default;
};

struct WarpProgram {
  std::string name;
  std::vector<Instruction> code;  ///< ends with EXIT
  std::vector<Loop> loops;        ///< sorted by begin, outer before inner
  std::vector<MemoryOperand> memory_operands;
  /// Names of what instructions are part of, "mma" or "store O", for people: no number depends on them. In
  /// the order in which instructions name them first.
  std::vector<std::string> operations;

  bool operator==(const WarpProgram&) const = default;
};

}  // namespace warpscope::trace

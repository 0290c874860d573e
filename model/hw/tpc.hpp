// Two SMs of an NVIDIA GPU form a TPC.
#pragma once

namespace warpscope::hw {

inline constexpr int kSmsPerTpc = 2;

}  // namespace warpscope::hw

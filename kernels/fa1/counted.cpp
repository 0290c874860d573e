#include "kernels/fa1/counted.hpp"

namespace warpscope::kernels::fa1 {

std::span<const CountedInstruction> cta_overhead() {
  return {};
}
std::span<const CountedInstruction> key_block_overhead() {
  return {};
}
std::span<const CountedInstruction> step_overhead(const Config&, bool, bool) {
  return {};
}

}  // namespace warpscope::kernels::fa1

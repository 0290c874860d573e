#include "experiments/page/glossary.hpp"

#include <array>
#include <utility>

namespace warpscope::experiments {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 27> kEntries = {{
    {"selected", "The warp issued an instruction in this cycle: no stall."},
    {"wait",
     "The warp waits a fixed number of cycles that the compiler has written into its last instruction."},
    {"long_scoreboard", "The warp waits for data from L1, L2 or HBM."},
    {"short_scoreboard", "The warp waits for shared memory, a shuffle or the exponential unit."},
    {"barrier", "The warp waits for other warps of its CTA at a barrier."},
    {"math_pipe_throttle", "The pipe that the next instruction needs is still taken by earlier ones."},
    {"mio_throttle", "The queue to shared memory, shuffles and the exponential unit is full."},
    {"lg_throttle", "The queue for loads and stores to global memory is full."},
    {"dispatch_stall", "The dispatch port is held, as a tensor instruction does for some cycles."},
    {"not_selected", "The warp was ready, and another warp of the sub-core issued."},
    {"no_instruction", "The next instruction is not yet in the instruction cache."},
    {"branch_resolving", "The warp waits for a branch to find its target."},
    {"drain", "The warp has ended and waits for its stores to leave."},
    {"tensor pipe", "Runs matrix products (HMMA): one pipe in each of an SM's four sub-cores."},
    {"issue slots", "Each sub-core issues one warp instruction per cycle at most."},
    {"FMA pipe", "FP32 multiply and add."},
    {"ALU pipe", "Integer and logic instructions, comparisons, conversions."},
    {"XU pipe", "Exponentials and other special functions (MUFU)."},
    {"shared data path", "Moves data between registers, shared memory and L1: 128 bytes per cycle and SM."},
    {"L2", "The cache that all SMs share, in front of HBM."},
    {"HBM", "The memory of the GPU, outside of the chip that computes."},
    {"CTA", "A thread block: warps that share shared memory and barriers on one SM."},
    {"wave", "As many CTAs as fit on all SMs at a time."},
    {"wavefront", "One pass of an access through shared memory; bank conflicts make several."},
    {"FLOP", "A floating-point operation; a fused multiply-add counts as two."},
    {"HBM byte", "A byte that crossed between the L2 and HBM, either way."},
    {"compulsory", "A reference: each input read once and each output written once."},
}};

}  // namespace

std::string glossary_entry(std::string_view word) {
  for (const auto& [known, text] : kEntries) {
    if (known == word) {
      return std::string(text);
    }
  }
  return {};
}

}  // namespace warpscope::experiments

#include "kernels/machine/cta_ends.hpp"

#include <algorithm>
#include <numeric>

namespace warpscope::kernels {
namespace {

using trace::Opcode;

/// Of so many instructions one needs the one before. From machine code: before the first barrier of 14
/// instantiations of FlashAttention-2 (nvcc 13.0, sm_90) stall counts are 1.7 to 2.0 in the mean, and an
/// instruction that needs the one before comes 4.5 cycles behind it.
constexpr int kPerChained = 4;

/// Special registers and parameters that are read one behind the other where a CTA ends: the same code.
constexpr int kLoadsAtEnd = 3;

/// Takes `count` instructions of a kind out of `kinds`, or as many as there are.
int take(std::vector<CountedInstruction>& kinds, Opcode opcode, int count) {
  const auto found = std::ranges::find(kinds, opcode, &CountedInstruction::opcode);
  if (found == kinds.end()) {
    return 0;
  }
  const int taken = std::min(count, found->count);
  found->count -= taken;
  return taken;
}

int count_chained(const std::vector<CountedInstruction>& kinds) {
  const int all = std::accumulate(kinds.begin(), kinds.end(), 0,
                                  [](int sum, const CountedInstruction& kind) { return sum + kind.count; });
  return all / kPerChained;
}

CountedPart without_zeros(CountedBlock block) {
  for (std::vector<CountedInstruction>* list : {&block.spread, &block.chain}) {
    std::erase_if(*list, [](const CountedInstruction& counted) { return counted.count == 0; });
  }
  return {std::move(block)};
}

}  // namespace

CountedPart cta_begin(std::vector<CountedInstruction> kinds, const ParameterLines& parameters) {
  const int chained = count_chained(kinds);
  const int loads = take(kinds, Opcode::NOP, 2 * parameters.loaded);
  const int first_loads = std::min(loads, parameters.loaded);
  const int operands = take(kinds, Opcode::UMOV, 2 * parameters.operands);
  const int integer = take(kinds, Opcode::IADD3, chained / 2);
  const int multiply = take(kinds, Opcode::IMAD, chained - integer);
  const int convert = take(kinds, Opcode::I2F, chained);
  kinds.push_back({Opcode::LDC, loads - first_loads});
  kinds.push_back({Opcode::ULDC, operands, std::min(operands, parameters.operands)});
  CountedBlock block{.spread = std::move(kinds),
                     .chain = {{Opcode::LDC, first_loads, first_loads},
                               {Opcode::I2F, convert},
                               {Opcode::IADD3, integer},
                               {Opcode::IMAD, multiply}},
                     .end = BlockEnd::join};
  return without_zeros(std::move(block));
}

CountedPart cta_end(std::vector<CountedInstruction> kinds) {
  const int chained = count_chained(kinds);
  const int loads = take(kinds, Opcode::NOP, kLoadsAtEnd);
  const int integer = take(kinds, Opcode::IADD3, chained / 2);
  const int multiply = take(kinds, Opcode::IMAD, chained - integer);
  CountedBlock block{.spread = std::move(kinds),
                     .chain = {{Opcode::LDC, loads}, {Opcode::IADD3, integer}, {Opcode::IMAD, multiply}}};
  return without_zeros(std::move(block));
}

}  // namespace warpscope::kernels

#include "kernels/compiler/in_order_results.hpp"

#include <algorithm>
#include <array>

#include "kernels/compiler/register_ranges.hpp"

namespace warpscope::kernels {
namespace {

using trace::Instruction;
using trace::OpClass;

constexpr std::array kInOrder = {OpClass::shared_load, OpClass::shuffle, OpClass::xu};

/// The first instruction behind `i` that needs its result to be there; the end of the block if there is none.
std::size_t first_use(const std::vector<Instruction>& code, std::size_t i) {
  const trace::RegisterRange& result = code[i].destination;
  std::size_t use = i + 1;
  while (use < code.size() && !reads(code[use], result) && !overlaps(code[use].destination, result)) {
    ++use;
  }
  return use;
}

}  // namespace

std::vector<bool> awaited_with_later(const std::vector<Instruction>& code) {
  std::vector<bool> covered(code.size());
  for (const OpClass op_class : kInOrder) {
    // Backwards, so that `earliest` is when a later one is first awaited.
    std::size_t earliest = code.size();
    for (std::size_t i = code.size(); i-- > 0;) {
      if (trace::info(code[i].opcode).op_class != op_class || code[i].destination.count == 0) {
        continue;
      }
      const std::size_t use = first_use(code, i);
      covered[i] = earliest <= use && use < code.size();
      earliest = std::min(earliest, use);
    }
  }
  return covered;
}

}  // namespace warpscope::kernels

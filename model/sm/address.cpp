#include "model/sm/address.hpp"

namespace warpscope::sm {
namespace {

std::int64_t base(const trace::AffineIndex& index, const ResidentCta& cta) {
  std::int64_t value = index.offset;
  for (std::size_t d = 0; d < 3; ++d) {
    if (index.per_block[d] != 0) {
      value += index.per_block[d] * (static_cast<std::int64_t>(cta.block[d]) / index.block_divisor[d]);
    }
  }
  // A class lacks symbols that only programs of other classes name; it never executes those.
  const std::vector<std::int64_t>& symbols = cta.cta_class->symbols;
  if (index.symbol != trace::kNoSymbol && static_cast<std::size_t>(index.symbol) < symbols.size()) {
    value += index.per_symbol * symbols[static_cast<std::size_t>(index.symbol)];
  }
  return value;
}

}  // namespace

Address base_address(const trace::MemoryOperand& operand, const ResidentCta& cta) {
  return {base(operand.segment, cta), base(operand.offset, cta)};
}

}  // namespace warpscope::sm

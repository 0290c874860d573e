#include "model/sm/address.hpp"

namespace warpscope::sm {
namespace {

std::int64_t base(const trace::AffineIndex& index, const ResidentCta& cta, std::uint32_t turn) {
  std::int64_t value = index.offset;
  for (std::size_t d = 0; d < 3; ++d) {
    if (index.per_block[d] != 0) {
      value += index.per_block[d] * (static_cast<std::int64_t>(cta.block[d]) / index.block_divisor[d]);
    }
  }
  // A class lacks symbols that only programs of other classes name; it never executes those.
  const std::vector<std::int64_t>& symbols = cta.cta_class->symbols;
  const std::size_t symbol = static_cast<std::size_t>(index.symbol) + (index.symbol_table ? turn : 0);
  if (index.symbol != trace::kNoSymbol && symbol < symbols.size()) {
    value += index.per_symbol * symbols[symbol];
  }
  return value;
}

}  // namespace

Address base_address(const trace::MemoryOperand& operand, const ResidentCta& cta, std::uint32_t turn) {
  return {base(operand.segment, cta, turn), base(operand.offset, cta, turn)};
}

}  // namespace warpscope::sm

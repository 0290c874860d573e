// Where an access of a CTA begins.
#include "model/sm/address.hpp"

#include <gtest/gtest.h>

namespace warpscope::sm {
namespace {

TEST(Address, AddsTheTermsOfBlockAndClass) {
  const trace::CtaClass cta_class{{0}, {}, {7, 11}};
  ResidentCta cta;
  cta.block = {5, 6, 0};
  cta.cta_class = &cta_class;
  trace::MemoryOperand operand;
  operand.segment.per_block = {0, 2, 0};
  operand.offset = {
      .offset = 100, .per_block = {16, 0, 0}, .block_divisor = {2, 1, 1}, .symbol = 1, .per_symbol = 1000};
  EXPECT_EQ(base_address(operand, cta).segment, 12);
  EXPECT_EQ(base_address(operand, cta).offset, 100 + 16 * 2 + 1000 * 11);
}

TEST(Address, LeavesOutSymbolsOfOtherClasses) {
  const trace::CtaClass without_symbols{{0}, {}, {}};
  ResidentCta cta;
  cta.cta_class = &without_symbols;
  trace::MemoryOperand operand;
  operand.offset = {.offset = 100, .symbol = 3, .per_symbol = 1000};
  EXPECT_EQ(base_address(operand, cta).offset, 100);
}

}  // namespace
}  // namespace warpscope::sm

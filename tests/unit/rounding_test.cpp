// Rounding to fp16 and bf16.
#include "kernels/numeric/rounding.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>

namespace warpscope::kernels {
namespace {

TEST(Rounding, EveryHalfSurvivesTheWayThroughFloat) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const float value = from_half_bits(half);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(from_half_bits(to_half_bits(value))));
    } else {
      ASSERT_EQ(to_half_bits(value), half) << value;
    }
  }
}

TEST(Rounding, EveryBfloatSurvivesTheWayThroughFloat) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto number = static_cast<std::uint16_t>(bits);
    if (!std::isnan(from_bfloat_bits(number))) {
      ASSERT_EQ(to_bfloat_bits(from_bfloat_bits(number)), number);
    }
  }
}

TEST(Rounding, HalfKnowsItsLandmarks) {
  EXPECT_EQ(from_half_bits(0x3c00), 1.0F);
  EXPECT_EQ(from_half_bits(0x7bff), 65504.0F);
  EXPECT_EQ(from_half_bits(0x0001), 0x1p-24F);
  EXPECT_EQ(from_half_bits(0xc000), -2.0F);
}

TEST(Rounding, HalvesBetweenTwoNumbersGoToTheEvenOne) {
  EXPECT_EQ(round_to(ElementType::fp16, 1.0F + 0x1p-11F), 1.0F);
  EXPECT_EQ(round_to(ElementType::fp16, 1.0F + 3 * 0x1p-11F), 1.0F + 0x1p-9F);
  EXPECT_EQ(round_to(ElementType::fp16, 1.0F + 0x1.1p-11F), 1.0F + 0x1p-10F);
  EXPECT_EQ(round_to(ElementType::fp16, 0x1p-25F), 0.0F);
  EXPECT_EQ(round_to(ElementType::fp16, 0x1.8p-24F), 0x1p-23F);
  EXPECT_EQ(round_to(ElementType::bf16, 1.0F + 0x1p-8F), 1.0F);
  EXPECT_EQ(round_to(ElementType::bf16, 1.0F + 3 * 0x1p-8F), 1.0F + 0x1p-6F);
}

TEST(Rounding, TooLargeIsInfinite) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(round_to(ElementType::fp16, 65519.0F), 65504.0F);
  EXPECT_EQ(round_to(ElementType::fp16, 65520.0F), kInfinity);
  EXPECT_EQ(round_to(ElementType::fp16, -1.0e9F), -kInfinity);
  EXPECT_EQ(round_to(ElementType::bf16, std::numeric_limits<float>::max()), kInfinity);
  EXPECT_TRUE(std::isnan(round_to(ElementType::fp16, std::numeric_limits<float>::quiet_NaN())));
}

}  // namespace
}  // namespace warpscope::kernels

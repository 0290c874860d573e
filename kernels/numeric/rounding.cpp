#include "kernels/numeric/rounding.hpp"

#include <bit>

namespace warpscope::kernels {

namespace {

constexpr std::uint32_t kMagnitude = 0x7fffffff;
constexpr std::uint32_t kInfinity = 0x7f800000;
constexpr std::uint32_t kHalfInfinity = 0x7c00;
constexpr std::uint32_t kHalfOverflow = 0x477ff000;  // 65520: from here on the nearest fp16 is an infinity
constexpr std::uint32_t kHalfSmallestNormal = 0x38800000;  // 2^-14
constexpr std::uint32_t kExponentBiasGap = 112;            // 127 - 15
constexpr int kDroppedBits = 13;                           // 23 - 10 bits of fraction

}  // namespace

std::uint16_t to_half_bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits & ~kMagnitude) >> 16;
  const std::uint32_t magnitude = bits & kMagnitude;
  std::uint32_t result = 0;
  if (magnitude > kInfinity) {
    result = kHalfInfinity | 0x200;
  } else if (magnitude >= kHalfOverflow) {
    result = kHalfInfinity;
  } else if (magnitude < kHalfSmallestNormal) {
    // Adding 0.5 lets the fp32 adder round at 2^-24, the step of fp16 subnormals.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5F;
    result = std::bit_cast<std::uint32_t>(shifted) - std::bit_cast<std::uint32_t>(0.5F);
  } else {
    const std::uint32_t odd = (magnitude >> kDroppedBits) & 1U;
    const std::uint32_t rounded = magnitude + 0xfff + odd;
    result = (rounded >> kDroppedBits) - (kExponentBiasGap << 10);
  }
  return static_cast<std::uint16_t>(sign | result);
}

float from_half_bits(std::uint16_t bits) {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000U) << 16;
  const std::uint32_t magnitude = bits & 0x7fffU;
  std::uint32_t result = magnitude << kDroppedBits;
  if (magnitude >= kHalfInfinity) {
    result |= kInfinity;
  } else {
    // 2^112 moves the exponent from one bias to the other and normalises subnormals on the way.
    result = std::bit_cast<std::uint32_t>(std::bit_cast<float>(result) * 0x1p112F);
  }
  return std::bit_cast<float>(sign | result);
}

std::uint16_t to_bfloat_bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & kMagnitude) > kInfinity) {
    return static_cast<std::uint16_t>((bits >> 16) | 0x40U);
  }
  return static_cast<std::uint16_t>((bits + 0x7fff + ((bits >> 16) & 1U)) >> 16);
}

float from_bfloat_bits(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

float round_to(ElementType type, float value) {
  switch (type) {
    case ElementType::fp16:
      return from_half_bits(to_half_bits(value));
    case ElementType::bf16:
      return from_bfloat_bits(to_bfloat_bits(value));
    case ElementType::boolean:
      return value != 0.0F ? 1.0F : 0.0F;
    case ElementType::fp32:
    case ElementType::int32:
      break;
  }
  return value;
}

}  // namespace warpscope::kernels

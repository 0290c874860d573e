// fp16 and bf16 numbers as the GPU rounds them: to nearest, ties to even, with subnormals.
#pragma once

#include <cstdint>

#include "kernels/machine/tiles.hpp"

namespace warpscope::kernels {

/// Bit pattern of the fp16 number nearest to `value`; beyond 65504 plus half a step it is an infinity.
std::uint16_t to_half_bits(float value);
float from_half_bits(std::uint16_t bits);

/// Bit pattern of the bf16 number nearest to `value`.
std::uint16_t to_bfloat_bits(float value);
float from_bfloat_bits(std::uint16_t bits);

/// `value` rounded to a number of `type`.
float round_to(ElementType type, float value);

}  // namespace warpscope::kernels

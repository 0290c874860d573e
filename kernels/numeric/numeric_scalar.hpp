// What the machine's operations mean for one number, and under which kind they are counted.
#pragma once

#include <cstdint>

#include "kernels/machine/machine.hpp"
#include "kernels/numeric/flop_count.hpp"

namespace warpscope::kernels {

float compute(UnaryOp op, float x);
float compute(BinaryOp op, float left, float right);
float reduce(Reduce op, float left, float right);
/// left * right + addend, rounded once.
float multiply_add_fused(float left, float right, float addend);

/// The counter for operation `op` on tiles (else on row vectors).
std::int64_t& kind_of(FlopCount& flops, UnaryOp op, bool tile);
std::int64_t& kind_of_tile(FlopCount& flops, BinaryOp op);
std::int64_t& kind_of(FlopCount& flops, Reduce op);

}  // namespace warpscope::kernels

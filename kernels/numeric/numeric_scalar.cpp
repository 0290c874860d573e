#include "kernels/numeric/numeric_scalar.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>

namespace warpscope::kernels {

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// The hardware's exponential flushes subnormal results to zero.
float exp2_flushed(float value) {
  const float result = std::exp2(value);
  return result < std::numeric_limits<float>::min() ? 0.0F : result;
}

}  // namespace

float compute(UnaryOp op, float x) {
  const bool empty_sum = x == 0.0F || std::isnan(x);
  switch (op) {
    case UnaryOp::copy:
      return x;
    case UnaryOp::exp2:
      return std::isnan(x) ? x : exp2_flushed(x);
    case UnaryOp::log2:
      return std::log2(x);
    case UnaryOp::reciprocal:
      return 1.0F / x;
    case UnaryOp::zero_if_minus_infinity:
      return x == -kInfinity ? 0.0F : x;
    case UnaryOp::exp:
      return std::exp(x);
    case UnaryOp::reciprocal_or_one:
      return empty_sum ? 1.0F : 1.0F / x;
    case UnaryOp::log_or_infinity:
      return empty_sum ? kInfinity : std::log(x);
    case UnaryOp::log_or_minus_infinity:
      return empty_sum ? -kInfinity : std::log(x);
  }
  throw std::logic_error("unknown unary operation");
}

float compute(BinaryOp op, float left, float right) {
  switch (op) {
    case BinaryOp::add:
      return left + right;
    case BinaryOp::subtract:
      return left - right;
    case BinaryOp::multiply:
      return left * right;
    case BinaryOp::divide:
      return left / right;
    case BinaryOp::max:
      return std::fmax(left, right);
    case BinaryOp::masked_fill:
      return right != 0.0F ? -kInfinity : left;
    case BinaryOp::masked_zero:
      return right != 0.0F ? 0.0F : left;
  }
  throw std::logic_error("unknown binary operation");
}

float reduce(Reduce op, float left, float right) {
  return op == Reduce::max ? std::fmax(left, right) : left + right;
}

float multiply_add_fused(float left, float right, float addend) {
  // The product of two floats is exact in double, and much faster than std::fma without hardware for it.
  return static_cast<float>(static_cast<double>(left) * static_cast<double>(right) +
                            static_cast<double>(addend));
}

std::int64_t& kind_of(FlopCount& flops, UnaryOp op, bool tile) {
  switch (op) {
    case UnaryOp::exp2:
    case UnaryOp::exp:
      return flops.exponential;
    case UnaryOp::log2:
    case UnaryOp::reciprocal:
    case UnaryOp::reciprocal_or_one:
    case UnaryOp::log_or_infinity:
    case UnaryOp::log_or_minus_infinity:
      return flops.reciprocal_log;
    default:
      return tile ? flops.tile_other : flops.row_vector;
  }
}

std::int64_t& kind_of_tile(FlopCount& flops, BinaryOp op) {
  switch (op) {
    case BinaryOp::multiply:
    case BinaryOp::divide:
      return flops.tile_scale;
    case BinaryOp::add:
      return flops.tile_add;
    default:
      return flops.tile_other;
  }
}

std::int64_t& kind_of(FlopCount& flops, Reduce op) {
  return op == Reduce::max ? flops.max : flops.sum;
}

}  // namespace warpscope::kernels

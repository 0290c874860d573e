// Positions that a CTA program computes from its block index, loop iterations and the values of its class.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>

namespace warpscope::kernels {

inline constexpr int kMaxProgramLoops = 3;  ///< CtaMachine::loop may nest this deep
inline constexpr int kNoClassSymbol = -1;

/// constant + sum_d per_block[d] * (blockIdx[d] / block_divisor[d]) + sum_k per_loop[k] * (iteration of the
/// k-th enclosing CtaMachine::loop, outermost first) + per_symbol * (symbol of the CTA's class).
struct Affine {
  std::int64_t constant = 0;
  std::array<std::int64_t, 3> per_block{};
  std::array<std::int32_t, 3> block_divisor{1, 1, 1};
  std::array<std::int64_t, kMaxProgramLoops> per_loop{};
  int symbol = kNoClassSymbol;
  std::int64_t per_symbol = 0;
  int table_length = 0;  ///< above 0: a table of so many symbols from `symbol` on, see class_table

  Affine() = default;
  Affine(std::int64_t value)
      : constant(value) {}                // NOLINT(google-explicit-constructor): numbers are positions
  Affine(int value) : constant(value) {}  // NOLINT(google-explicit-constructor)

  bool operator==(const Affine&) const = default;
};

/// blockIdx[dimension] / divisor, dimension 0 = x.
inline Affine block_index(int dimension, std::int32_t divisor = 1) {
  Affine result;
  result.per_block[static_cast<std::size_t>(dimension)] = 1;
  result.block_divisor[static_cast<std::size_t>(dimension)] = divisor;
  return result;
}

/// Value number `symbol` of the CTA's class (PlanClass::symbols).
inline Affine class_symbol(int symbol) {
  Affine result;
  result.symbol = symbol;
  result.per_symbol = 1;
  return result;
}

/// Of a table of `length` values of the CTA's class, from number `first` on, the one of the iteration of the
/// outermost loop, inside of which it must be used. What a persistent CTA does next need not be affine.
inline Affine class_table(int first, int length) {
  Affine result = class_symbol(first);
  result.table_length = length;
  return result;
}

inline Affine operator*(Affine value, std::int64_t factor) {
  value.constant *= factor;
  for (std::int64_t& term : value.per_block) {
    term *= factor;
  }
  for (std::int64_t& term : value.per_loop) {
    term *= factor;
  }
  value.per_symbol *= factor;
  return value;
}

/// Throws std::logic_error where the sum is not affine: two symbols, or two divisors of one block dimension.
inline Affine operator+(Affine left, const Affine& right) {
  left.constant += right.constant;
  for (std::size_t d = 0; d < 3; ++d) {
    if (right.per_block[d] == 0) {
      continue;
    }
    if (left.per_block[d] != 0 && left.block_divisor[d] != right.block_divisor[d]) {
      throw std::logic_error("affine sum with two divisors of one block dimension");
    }
    left.block_divisor[d] = right.block_divisor[d];
    left.per_block[d] += right.per_block[d];
  }
  for (std::size_t k = 0; k < kMaxProgramLoops; ++k) {
    left.per_loop[k] += right.per_loop[k];
  }
  if (right.symbol != kNoClassSymbol) {
    if (left.symbol != kNoClassSymbol && left.symbol != right.symbol) {
      throw std::logic_error("affine sum with two class symbols");
    }
    left.symbol = right.symbol;
    left.table_length = right.table_length;
    left.per_symbol += right.per_symbol;
  }
  return left;
}

inline Affine operator-(const Affine& left, const Affine& right) {
  return left + right * -1;
}

}  // namespace warpscope::kernels

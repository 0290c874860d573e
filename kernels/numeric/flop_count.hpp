// Floating-point operations that a kernel executed, counted by the numeric machine.
#pragma once

#include <cstdint>

namespace warpscope::kernels {

/// Operations of all threads, padding of tiles included, as the hardware executes them. A multiply-add counts
/// two.
struct FlopCount {
  std::int64_t matmul = 0;       ///< tensor cores
  std::int64_t exponential = 0;  ///< one per exponential of a score or of a row's correction
  std::int64_t score_scale = 0;  ///< the multiply and subtract in front of a score's exponential
  std::int64_t mask = 0;         ///< one per score that a mask is applied to
  std::int64_t max = 0;          ///< row maxima, shuffles' share included
  std::int64_t sum = 0;          ///< row sums, shuffles' share included
  std::int64_t tile_scale = 0;   ///< tile times row vector or number: rescaling and normalisation of O
  std::int64_t tile_add = 0;     ///< sums of tiles: partial outputs of warps, O of earlier key blocks
  std::int64_t tile_other = 0;   ///< other arithmetic on tiles
  std::int64_t row_vector = 0;   ///< arithmetic on one value per row, without the kinds above
  std::int64_t reciprocal_log = 0;

  std::int64_t non_matmul() const {
    return exponential + score_scale + mask + max + sum + tile_scale + tile_add + tile_other + row_vector +
           reciprocal_log;
  }

  FlopCount& operator+=(const FlopCount& other) {
    matmul += other.matmul;
    exponential += other.exponential;
    score_scale += other.score_scale;
    mask += other.mask;
    max += other.max;
    sum += other.sum;
    tile_scale += other.tile_scale;
    tile_add += other.tile_add;
    tile_other += other.tile_other;
    row_vector += other.row_vector;
    reciprocal_log += other.reciprocal_log;
    return *this;
  }

  bool operator==(const FlopCount&) const = default;
};

}  // namespace warpscope::kernels

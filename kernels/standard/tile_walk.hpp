// Which tiles of a batch of matrices each CTA of a persistent kernel computes, one after the other.
#pragma once

#include <cstdint>

#include "kernels/standard/wgmma_gemm.hpp"

namespace warpscope::kernels::standard {

/// Clusters of two CTAs, numbered along x, take two tiles at a time that share columns where these are more
/// than the rows of a tile, or else rows; the clusters take turns.
class TileWalk {
 public:
  TileWalk(const GemmTask& task, const WgmmaTile& tile, int sms);

  // Of the tile that is the outermost loop's turn, counted in tiles.
  Affine segment() const { return class_table(0, length_); }
  Affine row() const { return class_table(length_, length_); }
  Affine column() const { return class_table(2 * length_, length_); }
  Affine number() const { return class_table(3 * length_, length_); }  ///< within its segment, row by row
  int sharers_of_a() const { return shares_rows_ ? 2 : 1; }
  int sharers_of_b() const { return shares_columns_ ? 2 : 1; }

  /// Grid and classes, one for each CTA: tables as above, trips of the tiles and then `further_steps`.
  void add_classes(LaunchPlan& launch, std::uint32_t further_steps) const;

 private:
  std::int64_t rows_;
  std::int64_t columns_;
  bool shares_columns_;
  bool shares_rows_;
  std::int64_t units_;  ///< that a cluster takes at a time
  std::int64_t clusters_;
  int length_;  ///< of a table
};

}  // namespace warpscope::kernels::standard

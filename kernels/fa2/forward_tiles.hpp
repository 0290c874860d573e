// Where the tiles of a CTA lie, in shared and in global memory.
#pragma once

#include "kernels/fa2/forward_program.hpp"

namespace warpscope::kernels::fa2 {

/// Tiles of one launch, and what is done alike with each of them.
class ForwardTiles {
 public:
  /// `rows`: how many queries of the tile exist, where the keys are divided.
  ForwardTiles(CtaMachine& machine, const ForwardShape& shape, int rows = 0);

  const SharedTile& q() const { return q_; }
  const SharedTile& k() const { return k_; }
  const SharedTile& v() const { return v_; }
  ElementType type() const { return type_; }
  /// Of the scores: 1 / sqrt(head dimension), or the softcap, and the same in units of log2(e).
  double scale() const { return scale_; }
  float scale_log2() const { return scale_log2_; }
  /// What raw scores are multiplied with before tanh.
  float softcap_factor() const;

  GlobalTile queries(int tensor, const Affine& block) const;
  /// From row `first` on.
  GlobalTile keys(int tensor, const Affine& first) const;
  GlobalTile row_values(int tensor, const Affine& block) const;
  /// Where the output goes, on its way and at last: O, or fp32 of this part of the keys.
  SharedTile shared_output() const;
  GlobalTile output(const Affine& block) const;
  ElementType output_type() const { return shape_.divides_keys() ? ElementType::fp32 : type_; }

  Mask mask(const Affine& query_block, const Affine& key_block) const;
  DistanceBias bias(const Affine& query_block, const Affine& key_block) const;
  Dropout dropout(const Affine& query_block, const Affine& key_block) const;
  /// What is kept of each row, from its complete sum and the maximum of its raw scores, which is changed: the
  /// log-sum-exp, or the scaled maximum.
  RowVector row_statistic(const Fragment& like, const RowVector& max, const RowVector& sum) const;
  /// Writes it, and the sum where that is kept too.
  void store_row_statistic(const RowVector& statistic, const RowVector& sum, const Affine& block) const;

 private:
  OutOfRange beyond() const;
  Affine query_segment() const;
  /// The first row of the block in its segment.
  Affine query_row(const Affine& block) const;
  /// The first row of the block among the queries of all batches and heads, where the keys are divided.
  Affine row_of_all(const Affine& block) const;

  CtaMachine& m_;
  const ForwardShape& shape_;
  int rows_;
  ElementType type_;
  double scale_;
  float scale_log2_;
  SharedTile q_;
  SharedTile k_;
  SharedTile v_;
};

}  // namespace warpscope::kernels::fa2

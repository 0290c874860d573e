// Where the tiles of a CTA lie, in shared and in global memory.
#pragma once

#include "kernels/machine/machine.hpp"
#include "kernels/xformers/forward_shape.hpp"

namespace warpscope::kernels::xformers {

/// Tiles of one launch. Slices are numbered along the inner dimension of the product that reads them.
class ForwardTiles {
 public:
  explicit ForwardTiles(const ForwardShape& shape) : shape_(shape) {}

  /// The CTA's rows of Q, O and so on.
  GlobalTile queries(int tensor, const Affine& first_col, int cols) const;
  GlobalTile k_slice_source(const Affine& block, const Affine& slice) const;
  GlobalTile v_slice_source(const Affine& block, const Affine& slice, int first_col) const;

  SharedTile q_slice(const Affine& slice) const;
  SharedTile k_slice(const Affine& slice) const;
  SharedTile v_slice(const Affine& slice) const;
  SharedTile p_slice(int slice) const;
  SharedTile p() const;
  /// On its way from the layout of a product to whole rows.
  SharedTile output() const;

  Mask mask(const Affine& block) const;

 private:
  Affine segment() const;
  GlobalTile keys(int tensor, const Affine& first_row, int rows, const Affine& first_col, int cols) const;
  SharedTile probabilities(int first_col, int cols) const;

  const ForwardShape& shape_;
};

}  // namespace warpscope::kernels::xformers

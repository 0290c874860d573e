#include "kernels/xformers/forward_tiles.hpp"

namespace warpscope::kernels::xformers {

GlobalTile ForwardTiles::queries(int tensor, const Affine& first_col, int cols) const {
  const int rows = shape_.tile.queries;
  return {tensor, segment(), block_index(0) * rows, first_col, rows, cols};
}

GlobalTile ForwardTiles::k_slice_source(const Affine& block, const Affine& slice) const {
  return keys(kK, block * shape_.tile.keys, shape_.tile.keys, slice * kSliceDepth, kSliceDepth);
}

GlobalTile ForwardTiles::v_slice_source(const Affine& block, const Affine& slice, int first_col) const {
  return keys(kV, block * shape_.tile.keys + slice * kSliceDepth, kSliceDepth, first_col,
              shape_.tile.output_cols());
}

SharedTile ForwardTiles::q_slice(const Affine& slice) const {
  return stage(
      {shape_.layout.q, shape_.tile.queries, kSliceDepth, shape_.type, shape_.tile.score_stages(), {}},
      slice);
}

SharedTile ForwardTiles::k_slice(const Affine& slice) const {
  return stage({shape_.layout.k, shape_.tile.keys, kSliceDepth, shape_.type, shape_.tile.score_stages(), {}},
               slice);
}

SharedTile ForwardTiles::v_slice(const Affine& slice) const {
  return stage(
      {shape_.layout.v, kSliceDepth, shape_.tile.output_cols(), shape_.type, shape_.tile.key_slices(), {}},
      slice);
}

SharedTile ForwardTiles::p_slice(int slice) const {
  return probabilities(slice * kSliceDepth, kSliceDepth);
}

SharedTile ForwardTiles::p() const {
  return probabilities(0, shape_.tile.keys);
}

SharedTile ForwardTiles::output() const {
  return {shape_.layout.output, shape_.tile.queries, shape_.tile.output_cols(), ElementType::fp32, 1, {}};
}

Mask ForwardTiles::mask(const Affine& block) const {
  return {block_index(0) * shape_.tile.queries, block * shape_.tile.keys, shape_.problem.seqlen_k,
          shape_.problem.causal, 0};
}

Affine ForwardTiles::segment() const {
  return block_index(2) * shape_.problem.heads + block_index(1);
}

GlobalTile ForwardTiles::keys(int tensor, const Affine& first_row, int rows, const Affine& first_col,
                              int cols) const {
  return {tensor, segment(), first_row, first_col, rows, cols};
}

SharedTile ForwardTiles::probabilities(int first_col, int cols) const {
  SharedTile result;
  result.byte_offset = shape_.layout.probabilities + first_col * element_bytes(shape_.type);
  result.rows = shape_.tile.queries;
  result.cols = cols;
  result.type = shape_.type;
  result.pitch = shape_.layout.probability_pitch;
  return result;
}

}  // namespace warpscope::kernels::xformers

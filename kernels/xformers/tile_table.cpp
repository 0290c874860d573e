#include "kernels/xformers/tile_table.hpp"

#include <algorithm>
#include <array>

namespace warpscope::kernels::xformers {
namespace {

// xformers 3d947a67~1, generate_kernels.py, lines 114-141, for sm80 and half precision; the first that fits
// counts. Launch bounds ask for 16 warps per SM, which leaves 128 registers to a thread; the third needs
// fewer (launch__registers_per_thread).
constexpr std::array kTiles = {ForwardTile{64, 64, 64, 128}, ForwardTile{64, 128, 128, 128},
                               ForwardTile{32, 128, 0, 122}};

constexpr int kBytesPerElement = 2;
constexpr int kBytesPerSum = 4;

}  // namespace

SharedLayout::SharedLayout(const ForwardTile& tile) {
  const int row_bytes = tile.queries * kBytesPerSum;
  previous_max = 0;
  sum = previous_max + row_bytes;
  max = sum + row_bytes;
  rescale = max + row_bytes;
  partial_sums = rescale + row_bytes;
  const int tiles = partial_sums + row_bytes * tile.split().n;

  q = tiles;
  k = q + tile.queries * tile.score_stages() * kSliceDepth * kBytesPerElement;
  const int qk_end = k + tile.keys * tile.score_stages() * kSliceDepth * kBytesPerElement;

  constexpr int kPadding = 8;
  probability_pitch = tile.keys + kPadding;
  const int p_bytes = tile.queries * probability_pitch * kBytesPerElement;
  probabilities = tiles;
  v = probabilities + p_bytes;
  const int pv_end = v + tile.keys * tile.output_cols() * kBytesPerElement;

  // Where the output goes to memory while P is still needed, the source sends a half of it at a time through
  // room behind V; here all of it goes through the place of V.
  output = tile.keeps_output() ? tiles : v;
  const int output_end = output + tile.queries * tile.output_cols() * kBytesPerSum;
  bytes = std::max({qk_end, pv_end + (tile.keeps_output() ? 0 : p_bytes), output_end});
}

ForwardTile forward_tile(const Problem& problem) {
  return *std::ranges::find_if(kTiles, [&](const ForwardTile& tile) {
    return problem.head_dim <= tile.head_dim || !tile.keeps_output();
  });
}

}  // namespace warpscope::kernels::xformers

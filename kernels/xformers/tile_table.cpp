#include "kernels/xformers/tile_table.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "kernels/unsupported.hpp"

namespace warpscope::kernels::xformers {
namespace {

// xformers 3d947a67~1, generate_kernels.py, lines 114-141, for sm80 and half precision; the first that fits
// counts. Launch bounds ask for 16 warps per SM, which leaves 128 registers to a thread.
constexpr std::array kTiles = {ForwardTile{64, 64, 64, 128}, ForwardTile{64, 128, 128, 128}};

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
  k = q + tile.queries * tile.head_dim * kBytesPerElement;
  const int qk_end = k + tile.keys * tile.head_dim * kBytesPerElement;

  constexpr int kPadding = 8;
  probability_pitch = tile.keys + kPadding;
  probabilities = tiles;
  v = probabilities + tile.queries * probability_pitch * kBytesPerElement;
  const int pv_end = v + tile.keys * tile.head_dim * kBytesPerElement;

  output = tiles;
  const int output_end = output + tile.queries * tile.head_dim * kBytesPerSum;
  bytes = std::max({qk_end, pv_end, output_end});
}

ForwardTile forward_tile(const Problem& problem) {
  const auto* const fits = std::ranges::find_if(
      kTiles, [&](const ForwardTile& tile) { return problem.head_dim <= tile.head_dim; });
  if (fits == kTiles.end()) {
    throw UnsupportedProblem(
        "xformers: of head_dim above " + std::to_string(kTiles.back().head_dim) + ", got " +
        std::to_string(problem.head_dim) +
        ", the kernel keeps its output in global memory between key blocks, which is not modelled");
  }
  return *fits;
}

}  // namespace warpscope::kernels::xformers

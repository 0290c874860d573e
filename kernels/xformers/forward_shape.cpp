#include "kernels/xformers/forward_shape.hpp"

#include <algorithm>
#include <vector>

namespace warpscope::kernels::xformers {
namespace {

std::int64_t divide_up(std::int64_t value, std::int64_t divisor) {
  return (value + divisor - 1) / divisor;
}

std::int64_t keys_in_last_block(const ForwardShape& shape, std::int64_t visible) {
  return visible - (divide_up(visible, shape.tile.keys) - 1) * shape.tile.keys;
}

int slices_in_last_block(const ForwardShape& shape, std::int64_t visible) {
  return static_cast<int>(divide_up(keys_in_last_block(shape, visible), kSliceDepth));
}

// The source masks where a block's last key may lie in the future of the CTA's first query, its own position
// included: the block before the last one too, if that ends where the queries begin. It hides nothing there,
// and the last block takes its mask here.
std::uint32_t masks_of(const ForwardShape& shape, std::int64_t block, std::int64_t visible) {
  if (!shape.problem.causal) {
    return 1;
  }
  const std::int64_t last_begin = visible - keys_in_last_block(shape, visible);
  return last_begin > 0 && last_begin >= block * shape.tile.queries ? 2 : 1;
}

PlanClass class_of(const ForwardShape& shape, std::int64_t block) {
  const std::int64_t visible = shape.visible_keys(block);
  const std::int64_t blocks = divide_up(visible, shape.tile.keys);
  const bool keeps_output = shape.tile.keeps_output();
  PlanClass result;
  result.trip_counts.resize(kRollingSlices + 1);
  const auto set = [&](int slot, std::int64_t count) {
    result.trip_counts[static_cast<std::size_t>(slot)] =
        static_cast<std::uint32_t>(std::max<std::int64_t>(0, count));
  };
  set(kWholeBlocks, keeps_output ? blocks - (shape.cuts_last_block ? 1 : 0) : blocks - 2);
  set(kMasks, shape.cuts_last_block ? masks_of(shape, block, visible) : 0);
  for (int slice = 0; slice < shape.tile.key_slices(); ++slice) {
    set(kSliceExists + slice, slice < slices_in_last_block(shape, visible) ? 1 : 0);
  }
  set(kOnlyBlock, blocks == 1 ? 1 : 0);
  set(kSeveralBlocks, blocks > 1 ? 1 : 0);
  set(kRollingSlices, shape.score_slices() - shape.tile.score_copies_ahead());
  result.symbols = {blocks - 1};
  return result;
}

bool same(const PlanClass& left, const PlanClass& right) {
  return left.trip_counts == right.trip_counts && left.symbols == right.symbols;
}

}  // namespace

ForwardShape::ForwardShape(const Problem& wanted, const ForwardTile& chosen)
    : problem(wanted),
      tile(chosen),
      layout(chosen),
      type(wanted.dtype == DataType::bf16 ? ElementType::bf16 : ElementType::fp16),
      cuts_last_block(wanted.causal || wanted.seqlen_k % chosen.keys != 0),
      fewest_slices(chosen.key_slices()) {
  for (std::int64_t block = 0; block < query_blocks(); ++block) {
    fewest_slices = std::min(fewest_slices, slices_in_last_block(*this, visible_keys(block)));
  }
}

std::int64_t ForwardShape::query_blocks() const {
  return divide_up(problem.seqlen_q, tile.queries);
}

int ForwardShape::score_slices() const {
  return static_cast<int>(divide_up(problem.head_dim, kSliceDepth));
}

int ForwardShape::value_blocks() const {
  return static_cast<int>(divide_up(problem.head_dim, tile.output_cols()));
}

std::int64_t ForwardShape::visible_keys(std::int64_t block) const {
  return problem.causal ? std::min(problem.seqlen_k, (block + 1) * tile.queries) : problem.seqlen_k;
}

void add_grid(LaunchPlan& launch, const ForwardShape& shape) {
  launch.grid = {static_cast<std::uint32_t>(shape.query_blocks()),
                 static_cast<std::uint32_t>(shape.problem.heads),
                 static_cast<std::uint32_t>(shape.problem.batch)};
  for (std::int64_t block = 0; block < shape.query_blocks(); ++block) {
    const PlanClass wanted = class_of(shape, block);
    const auto found =
        std::ranges::find_if(launch.classes, [&](const PlanClass& known) { return same(known, wanted); });
    launch.class_of_block[0].push_back(static_cast<std::uint32_t>(found - launch.classes.begin()));
    if (found == launch.classes.end()) {
      launch.classes.push_back(wanted);
    }
  }
}

}  // namespace warpscope::kernels::xformers

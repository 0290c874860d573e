#include "kernels/triton/forward_shape.hpp"

namespace warpscope::kernels::triton {
namespace {

SharedTile behind(const SharedTile& tile) {
  SharedTile next = tile;
  next.byte_offset += tile.bytes_per_stage() * tile.stages;
  return next;
}

std::uint32_t key_blocks(const ForwardShape& shape, std::int64_t query_block) {
  switch (shape.mode) {
    case Mode::full:
      return static_cast<std::uint32_t>(shape.blocks());
    case Mode::causal:
      return static_cast<std::uint32_t>(query_block + 1);
    case Mode::below_diagonal:
      return static_cast<std::uint32_t>(query_block);
    case Mode::diagonal:
      break;
  }
  return 1;
}

}  // namespace

ElementType ForwardShape::type() const {
  return problem.dtype == DataType::bf16 ? ElementType::bf16 : ElementType::fp16;
}

SharedTile ForwardShape::k() const {
  return {0, kBlock, head_dim(), type(), kStages, {}};
}

SharedTile ForwardShape::v() const {
  return behind(k());
}

SharedTile ForwardShape::q() const {
  SharedTile tile = behind(v());
  tile.stages = 1;
  return tile;
}

SharedTile ForwardShape::scratch(ElementType element) const {
  return {0, kBlock, head_dim(), element, 1, {}};
}

SharedTile ForwardShape::row_scratch() const {
  return {0, kBlock, 1, ElementType::fp32, 1, {}};
}

std::uint32_t ForwardShape::shared_bytes() const {
  return static_cast<std::uint32_t>(behind(q()).byte_offset);
}

void add_grid(LaunchPlan& launch, const ForwardShape& shape) {
  launch.grid = {static_cast<std::uint32_t>(shape.blocks()),
                 static_cast<std::uint32_t>(shape.problem.batch * shape.problem.heads), 1};
  const bool by_block = shape.mode == Mode::causal || shape.mode == Mode::below_diagonal;
  if (!by_block) {
    launch.classes.push_back({0, {key_blocks(shape, 0)}, {}});
    return;
  }
  for (std::int64_t block = 0; block < shape.blocks(); ++block) {
    launch.class_of_block[0].push_back(static_cast<std::uint32_t>(block));
    launch.classes.push_back({0, {key_blocks(shape, block)}, {}});
  }
}

}  // namespace warpscope::kernels::triton

#include "kernels/triton/backward_ends.hpp"

#include <array>
#include <string>

#include "kernels/standard/build_figures.hpp"
#include "kernels/standard/elementwise.hpp"

namespace warpscope::kernels::triton {
namespace {

constexpr int kWarps = 4;
constexpr int kElementsPerThread = 4;  // of PyTorch's elementwise and reduction kernels
constexpr int kElements = 32 * kWarps * kElementsPerThread;

/// Elements of a head that a CTA of PyTorch's kernels has.
GlobalTile flat(int tensor, const Affine& segment) {
  return {tensor, segment, 0, block_index(0) * kElements, 1, kElements, OutOfRange::leave, true};
}

Fragment elements(CtaMachine& m, ElementType type) {
  return m.fragment(1, kElements, type, Layout::linear_quads, {});
}

LaunchPlan flat_launch(const BackwardShape& shape, std::string name, std::int64_t segments,
                       std::function<void(CtaMachine&)> text) {
  LaunchPlan launch;
  launch.name = std::move(name);
  launch.grid = {static_cast<std::uint32_t>(shape.problem.seqlen_q * shape.head_dim() / kElements), 1,
                 static_cast<std::uint32_t>(segments)};
  launch.warps = kWarps;
  launch.build = standard::vectorized_figures();
  launch.programs.push_back({"range", std::move(text)});
  return launch;
}

void preprocess(CtaMachine& m, const BackwardShape& shape) {
  const Affine head = block_index(1);
  const Affine first = block_index(0) * kBlock;
  const GlobalTile rows{kBackO, head, first, 0, kBlock, shape.head_dim()};
  const auto of_rows = [&](int tensor) {
    GlobalTile tile = rows;
    tile.tensor = tensor;
    return tile;
  };
  const auto lines = [&](ElementType type) {
    return m.fragment(kBlock, shape.head_dim(), type, Layout::linear, {});
  };
  const auto loaded = [&](int tensor) {
    const Fragment stored = lines(shape.type());
    m.load(stored, of_rows(tensor));
    return stored;
  };
  const auto widened = [&](const Fragment& stored) {
    const Fragment wide = lines(ElementType::fp32);
    m.convert(wide, stored);
    return wide;
  };
  const SharedTile row_scratch{0, kBlock, 1, ElementType::fp32, 1, {}};
  constexpr int kPiece = 4;  // fp32 in 16 bytes: a row per thread
  const Fragment one_row = m.fragment(kBlock, kPiece, ElementType::fp32, Layout::linear, {});
  const RowVector own_row = m.row_vector(one_row);

  const Fragment stored_o = loaded(kBackO);
  const Fragment grad_o = widened(loaded(kBackGradO));
  m.load_rows(own_row, {kBackRowSum, head, first, 0, kBlock, 1});
  m.store_shared(row_scratch, own_row);
  m.barrier();
  const RowVector row = m.row_vector(grad_o);
  m.load_shared(row, row_scratch);
  m.apply(row, UnaryOp::reciprocal, row);
  m.apply(grad_o, BinaryOp::multiply, grad_o, row);
  m.apply(grad_o, BinaryOp::multiply, grad_o, 1.0F);  // div.full scales by powers of 2
  const RowVector delta = m.row_vector(grad_o);
  // Both tensors widened at once would not fit into the registers.
  m.row_dot(delta, widened(stored_o), grad_o, false);
  m.finish_rows(delta, Reduce::sum);
  const Fragment rounded = lines(shape.type());
  m.convert(rounded, grad_o);
  m.store(of_rows(kScaledGradO), rounded);
  m.barrier();
  m.store_shared(row_scratch, delta);
  m.barrier();
  m.load_shared(own_row, row_scratch);
  m.store_rows({kDelta, head, first, 0, kBlock, 1}, own_row);
}

/// reduce_kernel: four parts are loaded at a time.
LaunchPlan sum_launch(const BackwardShape& shape) {
  constexpr std::int64_t kAtATime = 4;
  enum TripSlot : int { kFours, kOthers };
  LaunchPlan launch = flat_launch(shape, "reduce_kernel dQ", shape.heads(), [shape](CtaMachine& m) {
    const Fragment sum = elements(m, ElementType::fp32);
    m.part(standard::kText);
    m.fill(sum, 0);
    const auto add = [&](const Affine& part, int count) {
      std::array<Fragment, kAtATime> loaded{};
      for (int i = 0; i < count; ++i) {
        loaded.at(static_cast<std::size_t>(i)) = elements(m, shape.type());
        m.load(loaded.at(static_cast<std::size_t>(i)),
               flat(kGradQParts, (part + i) * shape.heads() + block_index(2)));
      }
      for (int i = 0; i < count; ++i) {
        const Fragment wide = elements(m, ElementType::fp32);
        m.convert(wide, loaded.at(static_cast<std::size_t>(i)));
        m.apply(sum, BinaryOp::add, sum, wide);
      }
    };
    m.loop(kFours, [&](const Affine& iteration) { add(iteration * kAtATime, kAtATime); });
    m.loop(kOthers,
           [&](const Affine& iteration) { add(iteration + shape.blocks() / kAtATime * kAtATime, 1); });
    const Fragment rounded = elements(m, shape.type());
    m.convert(rounded, sum);
    m.store(flat(kGradQ, block_index(2)), rounded);
  });
  launch.registers_per_thread = 40;
  launch.classes.push_back({0,
                            {static_cast<std::uint32_t>(shape.blocks() / kAtATime),
                             static_cast<std::uint32_t>(shape.blocks() % kAtATime)},
                            {}});
  return launch;
}

}  // namespace

LaunchPlan zero_launch(const BackwardShape& shape) {
  const std::int64_t segments = shape.heads() * shape.grad_q_parts();
  LaunchPlan launch = flat_launch(shape, "fill dQ", segments, [type = shape.grad_q_type()](CtaMachine& m) {
    const Fragment zeros = elements(m, type);
    m.part(standard::kText);
    m.fill(zeros, 0);
    m.store(flat(kGradQParts, block_index(2)), zeros);
  });
  launch.registers_per_thread = 16;
  launch.classes.push_back({});
  return launch;
}

// The source numbers the blocks of all heads in one dimension of the grid, in the same order.
LaunchPlan preprocess_launch(const BackwardShape& shape) {
  LaunchPlan launch;
  launch.name = "_bwd_preprocess<" + std::to_string(shape.head_dim()) + ">";
  launch.grid = {static_cast<std::uint32_t>(shape.blocks()), static_cast<std::uint32_t>(shape.heads()), 1};
  launch.warps = kWarps;
  launch.registers_per_thread = 255;
  launch.shared_bytes_per_cta = kBlock * 4;
  launch.programs.push_back({"rows", [shape](CtaMachine& m) { preprocess(m, shape); }});
  launch.classes.push_back({});
  return launch;
}

LaunchPlan grad_q_launch(const BackwardShape& shape) {
  if (shape.sequence_parallel) {
    return sum_launch(shape);
  }
  return standard::cast_launch({"cast dQ", kGradQParts, kGradQ, shape.heads(), shape.problem.seqlen_q,
                                shape.problem.head_dim, shape.type()});
}

}  // namespace warpscope::kernels::triton

// combine_attn_seqk_parallel of csrc/flash_attn/src/flash_fwd_kernel.h, in its order.
#include "kernels/fa2/combine.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <numbers>
#include <string>

#include "kernels/fa2/combine_figures.hpp"
#include "kernels/fa2/split_tiles.hpp"

namespace warpscope::kernels::fa2 {
namespace {

constexpr int kWarps = 4;
constexpr int kWarpLanes = 32;
constexpr int kFoursSlot = 0;
constexpr WarpSplit kSplit{kWarps, 1, 1};
constexpr int kUnrolled = 4;
constexpr unsigned kHolders = 1U << 0;

struct CombineShape {
  int rows;        ///< queries per CTA
  int head_dim;    ///< of the tile
  int parts;       ///< of the keys
  int most_parts;  ///< that the instantiation has room for
  ElementType type;

  explicit CombineShape(const ForwardShape& shape)
      : rows(combined_rows(shape.tile.head_dim)),
        head_dim(shape.tile.head_dim),
        parts(static_cast<int>(shape.splits)),
        most_parts(static_cast<int>(std::bit_ceil(static_cast<unsigned>(parts)))),
        type(shape.problem.dtype == DataType::bf16 ? ElementType::bf16 : ElementType::fp16) {}

  // A column for each part. The source writes weights over the log-sum-exps that the same thread has read.
  SharedTile log_sums() const { return {0, most_parts, rows, ElementType::fp32}; }
  SharedTile weights() const { return {log_sums().bytes_per_stage(), most_parts, rows, ElementType::fp32}; }
  SharedTile weights_of(const Affine& part) const {
    return stage({weights().byte_offset, rows, 1, ElementType::fp32, most_parts}, part);
  }
  std::uint32_t shared_bytes() const { return static_cast<std::uint32_t>(2 * weights().byte_offset); }
  int fours() const { return parts / kUnrolled; }
  /// Warps that have log-sum-exps, as each thread takes one; the others go around what they are for.
  int holders() const { return std::min(kWarps, (most_parts * rows + kWarpLanes - 1) / kWarpLanes); }
  GlobalTile tile(int tensor, int cols, const Affine& segment = 0) const {
    return {tensor, segment, block_index(0) * rows, 0, rows, cols, OutOfRange::leave};
  }
};

/// The same words with rows and columns exchanged.
SharedTile exchanged(SharedTile tile) {
  tile.pitch = tile.cols;
  tile.column_major = true;
  std::swap(tile.rows, tile.cols);
  return tile;
}

/// What the warps that have no log-sum-exps branch around.
void in_holders(CtaMachine& m, const std::function<void()>& body) {
  m.guarded([&] { m.role(kHolders, body); });
}

void read_log_sums(CtaMachine& m, const CombineShape& shape) {
  in_holders(m, [&] {
    m.part(kCombineLoad);
    const Fragment loaded =
        m.fragment(shape.most_parts, shape.rows, ElementType::fp32, Layout::element_per_thread, kSplit);
    m.load(loaded, {kPartLse, 0, 0, block_index(0) * shape.rows, shape.most_parts, shape.rows});
    m.store_shared(shape.log_sums(), loaded);
  });
  m.barrier();
}

/// exp(log-sum-exp of a part - that of all), and the latter to memory.
void write_weights(CtaMachine& m, const CombineShape& shape) {
  constexpr auto kLog2E = static_cast<float>(std::numbers::log2e);
  const Fragment of_parts =
      m.fragment(shape.rows, shape.most_parts, ElementType::fp32, Layout::row_per_warp, kSplit);
  m.load_shared(of_parts, exchanged(shape.log_sums()));
  m.mask(of_parts, Mask{0, 0, shape.parts, false, 0});
  const RowVector max = m.row_vector(of_parts);
  m.reduce_rows(max, Reduce::max, of_parts, false);
  m.finish_rows(max, Reduce::max);
  m.apply(max, UnaryOp::zero_if_minus_infinity, max);
  const RowVector offset = m.row_vector(of_parts);
  m.apply(offset, BinaryOp::multiply, max, kLog2E);
  const Fragment terms =
      m.fragment(shape.rows, shape.most_parts, ElementType::fp32, Layout::row_per_warp, kSplit);
  m.convert(terms, of_parts);
  m.exp2_scaled(terms, kLog2E, offset);
  const RowVector sum = m.row_vector(of_parts);
  m.reduce_rows(sum, Reduce::sum, terms, false);
  m.finish_rows(sum, Reduce::sum);
  in_holders(m, [&] {
    m.part(kCombineLog);
    m.apply(sum, UnaryOp::log_or_infinity, sum);
    m.apply(sum, BinaryOp::add, sum, max);
    m.store_rows(shape.tile(kLse, 1), sum);
    m.apply(offset, BinaryOp::multiply, sum, kLog2E);
    m.exp2_scaled(of_parts, kLog2E, offset);
    m.store_shared(exchanged(shape.weights()), of_parts);
  });
  m.barrier();
}

void combine(CtaMachine& m, const CombineShape& shape) {
  m.part(kCombineBegin);
  read_log_sums(m, shape);
  m.part(kCombineWeights);
  write_weights(m, shape);
  const Fragment sum =
      m.fragment(shape.rows, shape.head_dim, ElementType::fp32, Layout::linear_quads, kSplit);
  const Fragment part =
      m.fragment(shape.rows, shape.head_dim, ElementType::fp32, Layout::linear_quads, kSplit);
  const RowVector weight = m.row_vector(sum);
  m.part(kCombineSum);
  m.fill(sum, 0);
  // Unrolled in the machine code, and yet each load waits for the products of the one before.
  const auto add = [&](const Affine& number) {
    m.load(part, shape.tile(kPartO, shape.head_dim, number));
    m.load_shared(weight, shape.weights_of(number));
    m.multiply_add(sum, part, weight, sum);
  };
  int added = shape.fours() * kUnrolled;
  if (added > 0) {
    m.loop(kFoursSlot, [&](const Affine& four) {
      m.part(kCombineFour);
      for (int i = 0; i < kUnrolled; ++i) {
        add(four * kUnrolled + i);
      }
    });
  }
  if (shape.parts - added >= 2) {
    m.guarded([&] {
      m.part(kCombineTwo);
      add(added);
      add(added + 1);
    });
    added += 2;
  }
  if (shape.parts > added) {
    m.guarded([&] {
      m.part(kCombineOne);
      add(added);
    });
  }
  m.guarded([&] {
    m.part(kCombineEnd);
    const Fragment packed = m.fragment(shape.rows, shape.head_dim, shape.type, Layout::linear_quads, kSplit);
    m.convert(packed, sum);
    m.store(shape.tile(kO, shape.head_dim), packed);
  });
}

}  // namespace

LaunchPlan combine_launch(const ForwardShape& forward, Build build) {
  const CombineShape shape(forward);
  const Problem& problem = forward.problem;
  const std::int64_t queries = problem.batch * problem.heads * problem.seqlen_q;
  constexpr std::uint32_t kRegisters = 54;  // 52 to 62, as for 2 to 128 parts (counters_split.csv)
  LaunchPlan launch;
  launch.name = "flash_fwd_splitkv_combine_kernel<" + std::to_string(shape.head_dim) + ", " +
                std::to_string(shape.rows) + ", " + std::to_string(shape.most_parts) + ">";
  launch.grid = {static_cast<std::uint32_t>((queries + shape.rows - 1) / shape.rows), 1, 1};
  launch.warps = kWarps;
  if (shape.holders() < kWarps) {
    launch.role_warps = {shape.holders(), kWarps - shape.holders()};
  }
  launch.registers_per_thread = kRegisters;
  launch.shared_bytes_per_cta = shape.shared_bytes();
  launch.build = combine_figures(build);
  launch.programs.push_back({"combine", [shape](CtaMachine& m) { combine(m, shape); }});
  launch.classes.push_back(
      {.program = 0, .trip_counts = {static_cast<std::uint32_t>(shape.fours())}, .symbols = {}});
  return launch;
}

}  // namespace warpscope::kernels::fa2

#include "kernels/fa2/backward_ends.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <string>

namespace warpscope::kernels::fa2 {
namespace {

constexpr int kWarps = BackwardTile::kWarps;

struct Registers {
  Build build;
  int head_dim;
  std::uint32_t row_products;
  std::uint32_t convert;
};

// Per thread, launch__registers_per_thread in counters.csv and counters_edges.csv (nvcc 13.0 and PyTorch's
// library, sm_90). Upstream row products of head dimension 64 have 36, which gives the same occupancy.
constexpr std::array kRegisters = {
    Registers{Build::upstream, 32, 32, 40},  Registers{Build::upstream, 64, 40, 64},
    Registers{Build::upstream, 96, 45, 56},  Registers{Build::upstream, 128, 51, 72},
    Registers{Build::upstream, 192, 65, 96}, Registers{Build::upstream, 256, 85, 96},
    Registers{Build::torch, 32, 32, 32},     Registers{Build::torch, 64, 40, 48},
    Registers{Build::torch, 96, 45, 40},     Registers{Build::torch, 128, 51, 48},
    Registers{Build::torch, 192, 67, 64},    Registers{Build::torch, 256, 83, 80},
};

const Registers& registers_of(Build build, const BackwardTile& tile) {
  return *std::ranges::find_if(
      kRegisters, [&](const Registers& row) { return row.build == build && row.head_dim == tile.head_dim; });
}

/// 8 threads share a row of 64 columns, or 4 one of 32 where rows are no multiple of 64: tiles are read page
/// by page.
int page_cols(const BackwardTile& tile) {
  return tile.head_dim % 64 == 0 ? 64 : 32;
}

LaunchPlan one_cta_per_query_block(const BackwardShape& shape, const char* name, std::uint32_t registers,
                                   std::function<void(CtaMachine&)> text) {
  LaunchPlan launch;
  launch.name = std::string(name) + "<" + std::to_string(shape.tile.head_dim) + ">";
  launch.grid = {static_cast<std::uint32_t>(shape.query_blocks()),
                 static_cast<std::uint32_t>(shape.problem.batch),
                 static_cast<std::uint32_t>(shape.problem.heads)};
  launch.warps = kWarps;
  launch.registers_per_thread = registers;
  launch.programs.push_back({"rows", std::move(text)});
  launch.classes.push_back({});
  return launch;
}

/// Rows of a page that all threads together load at once, 16 bytes each.
int rows_at_once(const BackwardTile& tile) {
  constexpr int kElements = 32 * kWarps * 8;
  return kElements / page_cols(tile);
}

/// So many rows of dO, and of O, does a thread load before it waits for them: one, or as many as make up 2
/// and 4 loads of 16 bytes (machine code of PyTorch 2.11 for sm_90, pytorch_backward_ends.csv, of the kernel
/// that writes zeros too).
int rows_in_round(const BackwardTile& tile, int loads) {
  const int pages = tile.head_dim / page_cols(tile);
  return std::min(std::max(loads / pages, 1), tile.rows / rows_at_once(tile));
}

constexpr int kLoadsOfGradO = 2;
constexpr int kLoadsOfO = 4;

/// Products of the rows of a tile, a row vector for those that all threads together load at once.
class RowProducts {
 public:
  RowProducts(CtaMachine& m, const BackwardShape& shape) : m_(m), shape_(shape) {}

  std::vector<RowVector> multiply() {
    load_grad_o();
    const int in_round = rows_in_round(shape_.tile, kLoadsOfO);
    std::vector<RowVector> products;
    for (std::size_t first = 0; first < grad_o_.size(); first += static_cast<std::size_t>(in_round)) {
      const std::vector<Row> round = load(kBackO, first, in_round);
      for (std::size_t i = 0; i < round.size(); ++i) {
        products.push_back(product(grad_o_[first + i], round[i]));
      }
      end_round();
    }
    return products;
  }

 private:
  using Row = std::vector<Fragment>;  ///< page by page

  void load_grad_o() {
    const int rows = shape_.tile.rows / rows_at_once(shape_.tile);
    const int in_round = rows_in_round(shape_.tile, kLoadsOfGradO);
    for (int first = 0; first < rows; first += in_round) {
      for (const Row& loaded : load(kBackGradO, static_cast<std::size_t>(first), in_round)) {
        grad_o_.push_back(moved(loaded));
      }
      end_round();
    }
  }

  std::vector<Row> load(int tensor, std::size_t first, int count) {
    const BackwardTile& tile = shape_.tile;
    const int rows = rows_at_once(tile);
    const int cols = page_cols(tile);
    std::vector<Row> loaded(static_cast<std::size_t>(count));
    for (Row& row : loaded) {
      const int first_row = static_cast<int>(first++) * rows;
      for (int col = 0; col < tile.head_dim; col += cols) {
        row.push_back(m_.fragment(rows, cols, shape_.type(), Layout::linear, {kWarps, 1, 1}));
        m_.load(row.back(), {tensor, shape_.query_segment(), block_index(0) * tile.rows + first_row, col,
                             rows, cols, OutOfRange::zero});
      }
    }
    return loaded;
  }

  /// The wait: ptxas moves what a branch has loaded to other registers before the next.
  Row moved(const Row& row) {
    Row result;
    for (const Fragment& page : row) {
      result.push_back(m_.fragment(page.rows, page.cols, page.type, page.layout, page.split));
      m_.apply(result.back(), UnaryOp::copy, page);
    }
    return result;
  }

  RowVector product(const Row& grad_o, const Row& o) {
    const RowVector result = m_.row_vector(o.front());
    for (std::size_t page = 0; page < o.size(); ++page) {
      m_.row_dot(result, grad_o[page], o[page], page > 0);
    }
    return result;
  }

  void end_round() { m_.part(kRound, rounds_++); }

  CtaMachine& m_;
  const BackwardShape& shape_;
  std::vector<Row> grad_o_;
  int rounds_ = 0;
};

void row_products(CtaMachine& m, const BackwardShape& shape) {
  const BackwardTile& tile = shape.tile;
  const int cols = page_cols(tile);
  m.part(kBeforeLoads);
  const Affine block = block_index(0);
  const std::vector<RowVector> products = RowProducts(m, shape).multiply();
  m.part(kBehindLoads);
  for (std::size_t i = 0; i < products.size(); ++i) {
    m.finish_rows(products[i], Reduce::sum);
    m.apply(products[i], BinaryOp::multiply, products[i], 1.0F);  // the share that dropout keeps
    GlobalTile target = shape.query_values(kRowProducts, block);
    target.rows = rows_at_once(tile);
    target.row = target.row + static_cast<int>(i) * target.rows;
    m.store_rows(target, products[i]);
  }
  if (shape.splits > 0) {
    return;  // the sums are zeros already
  }
  // One 16-byte store of each thread at a time, of the same zeros.
  const int rows = 16 * 32 * kWarps / (element_bytes(ElementType::fp32) * cols);
  const Fragment zeros = m.fragment(rows, cols, ElementType::fp32, Layout::linear, {kWarps, 1, 1});
  m.fill(zeros, 0);
  for (int row = 0; row < tile.rows; row += rows) {
    for (int col = 0; col < tile.head_dim; col += cols) {
      m.store({kGradQSum, shape.query_segment(), block * tile.rows + row, col, rows, cols}, zeros);
    }
  }
}

constexpr int kCopiesSlot = 0;

/// Loads of the sums that a thread has under way. PyTorch's builds have 16 registers beside the sums and 4 to
/// 5 loads under way at all head dimensions (pytorch_backward_ends.csv), so that a load takes two of those
/// that are left by the addresses of rows.
int loads_under_way(const BackwardTile& tile, std::uint32_t registers) {
  constexpr int kAddressRegisters = 8;
  const int sums = tile.rows * tile.head_dim / (32 * kWarps);
  return (static_cast<int>(registers) - sums - kAddressRegisters) / 2;
}

/// Adds up the copies of the sums, 16 columns of a warp at a time.
std::vector<Fragment> add_copies(CtaMachine& m, const BackwardShape& shape, int sums_tensor,
                                 const WarpSplit& split, int under_way) {
  constexpr int kColsOfAtom = 16;
  const BackwardTile& tile = shape.tile;
  const int cols = kColsOfAtom * split.n;
  std::vector<Fragment> sums;
  for (int col = 0; col < tile.head_dim; col += cols) {
    sums.push_back(m.fragment(tile.rows, cols, ElementType::fp32, Layout::accumulator, split));
    m.fill(sums.back(), 0);
  }
  m.loop(kCopiesSlot, [&](const Affine& copy) {
    for (std::size_t page = 0; page < sums.size(); ++page) {
      const int col = static_cast<int>(page) * cols;
      m.add_sums(sums[page], shape.sums(sums_tensor, copy, block_index(0), col, cols), under_way);
    }
  });
  return sums;
}

void convert_grad_q(CtaMachine& m, const BackwardShape& shape, int sums_tensor, int grad_q, int under_way) {
  const BackwardTile& tile = shape.tile;
  const auto scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(shape.problem.head_dim)));
  const WarpSplit split{tile.query_warps, kWarps / tile.query_warps, 1};
  m.part(kBeforeLoads);
  const SharedTile shared{0, tile.rows, tile.head_dim, shape.type(), 1, {}};
  SharedTile page = shared;
  page.pitch = tile.head_dim;
  const std::vector<Fragment> all_sums = add_copies(m, shape, sums_tensor, split, under_way);
  m.part(kBehindLoads);
  for (const Fragment& sums : all_sums) {
    m.apply(sums, BinaryOp::multiply, sums, scale);
    const Fragment packed = m.fragment(sums.rows, sums.cols, shape.type(), Layout::accumulator, split);
    m.convert(packed, sums);
    page.cols = sums.cols;
    m.store_shared(page, packed);
    page.byte_offset += sums.cols * element_bytes(shape.type());
  }
  m.barrier();
  const Fragment rows = m.fragment(tile.rows, tile.head_dim, shape.type(), Layout::linear, split);
  m.load_shared(rows, shared);
  m.store(shape.queries(grad_q, block_index(0)), rows);
}

constexpr int kSumWarps = 4;
constexpr int kSumCols = 32 * kSumWarps * 8;  // 16 bytes per thread

void sum_heads(CtaMachine& m, const BackwardShape& shape, int from, int to) {
  const std::int64_t group = shape.heads_per_key_head();
  const WarpSplit split{kSumWarps, 1, 1};
  const auto tile = [](int tensor, const Affine& segment) {
    return GlobalTile{tensor, segment, 0, block_index(0) * kSumCols, 1, kSumCols, OutOfRange::zero, true};
  };
  const Fragment sum = m.fragment(1, kSumCols, ElementType::fp32, Layout::linear, split);
  for (std::int64_t h = 0; h < group; ++h) {
    const Fragment one = m.fragment(1, kSumCols, shape.type(), Layout::linear, split);
    m.load(one, tile(from, (block_index(1) * shape.problem.heads_kv + block_index(2)) * group + h));
    const Fragment wide = m.fragment(1, kSumCols, ElementType::fp32, Layout::linear, split);
    m.convert(h == 0 ? sum : wide, one);
    if (h > 0) {
      m.apply(sum, BinaryOp::add, sum, wide);
    }
  }
  const Fragment packed = m.fragment(1, kSumCols, shape.type(), Layout::linear, split);
  m.convert(packed, sum);
  m.store(tile(to, block_index(1) * shape.problem.heads_kv + block_index(2)), packed);
}

}  // namespace

int row_products_rounds(const BackwardTile& tile) {
  const int rows = tile.rows / rows_at_once(tile);
  return rows / rows_in_round(tile, kLoadsOfGradO) + rows / rows_in_round(tile, kLoadsOfO);
}

LaunchPlan row_products_launch(const BackwardShape& shape, Build build) {
  return one_cta_per_query_block(shape, "flash_bwd_dot_do_o_kernel",
                                 registers_of(build, shape.tile).row_products,
                                 [shape](CtaMachine& m) { row_products(m, shape); });
}

LaunchPlan convert_grad_q_launch(const BackwardShape& shape, Build build, int sums, int grad_q) {
  const std::uint32_t registers = registers_of(build, shape.tile).convert;
  const int under_way = loads_under_way(shape.tile, registers);
  LaunchPlan launch =
      one_cta_per_query_block(shape, "flash_bwd_convert_dq_kernel", registers,
                              [=](CtaMachine& m) { convert_grad_q(m, shape, sums, grad_q, under_way); });
  launch.shared_bytes_per_cta = static_cast<std::uint32_t>(2 * shape.tile.rows * shape.tile.head_dim);
  launch.classes.back().trip_counts.push_back(
      static_cast<std::uint32_t>(std::max<std::int64_t>(shape.splits, 1)));
  return launch;
}

LaunchPlan sum_heads_launch(const BackwardShape& shape, int from, int to) {
  const Problem& problem = shape.problem;
  LaunchPlan launch;
  launch.name = to == kGradK ? "reduce_kernel dK" : "reduce_kernel dV";
  launch.grid = {static_cast<std::uint32_t>((problem.seqlen_k * problem.head_dim + kSumCols - 1) / kSumCols),
                 static_cast<std::uint32_t>(problem.batch), static_cast<std::uint32_t>(problem.heads_kv)};
  launch.warps = kSumWarps;
  launch.registers_per_thread = 40;
  launch.programs.push_back({"heads", [shape, from, to](CtaMachine& m) { sum_heads(m, shape, from, to); }});
  launch.classes.push_back({});
  return launch;
}

}  // namespace warpscope::kernels::fa2

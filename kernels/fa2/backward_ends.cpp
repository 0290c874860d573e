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
  int head_dim;
  std::uint32_t row_products;
  std::uint32_t convert;
};

// Per thread, launch__registers_per_thread in counters.csv and counters_edges.csv (nvcc 13.0, sm_90). At head
// dimension 64 that of PyTorch's build, which is 4 more and gives the same occupancy.
constexpr std::array kRegisters = {Registers{32, 32, 40},  Registers{64, 40, 64},  Registers{96, 45, 56},
                                   Registers{128, 51, 72}, Registers{192, 65, 96}, Registers{256, 85, 96}};

const Registers& registers_of(const BackwardTile& tile) {
  return *std::ranges::find(kRegisters, tile.head_dim, &Registers::head_dim);
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

void row_products(CtaMachine& m, const BackwardShape& shape) {
  const BackwardTile& tile = shape.tile;
  const int cols = page_cols(tile);
  m.part(kWholeKernel);
  const Affine block = block_index(0);
  std::vector<std::array<Fragment, 2>> pages;
  for (int first = 0; first < tile.head_dim; first += cols) {
    std::array<Fragment, 2>& page = pages.emplace_back();
    page.fill(Fragment{});
    for (std::size_t i = 0; i < page.size(); ++i) {
      page[i] = m.fragment(tile.rows, cols, shape.type(), Layout::linear, {kWarps, 1, 1});
      m.load(page[i], shape.queries(i == 0 ? kBackGradO : kBackO, block, first, cols));
    }
  }
  const RowVector products = m.row_vector(pages.front().front());
  for (std::size_t p = 0; p < pages.size(); ++p) {
    m.row_dot(products, pages[p][0], pages[p][1], p > 0);
  }
  m.finish_rows(products, Reduce::sum);
  m.apply(products, BinaryOp::multiply, products, 1.0F);  // the share that dropout keeps
  m.store_rows(shape.query_values(kRowProducts, block), products);
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

/// Adds up the copies of the sums: some columns of one copy at a time, as many as the build has registers for
/// beside the sums. The source loads all of a copy before it adds. First columns first.
std::vector<Fragment> add_copies(CtaMachine& m, const BackwardShape& shape, int sums_tensor,
                                 const WarpSplit& split) {
  constexpr int kColsOfAtom = 16;
  constexpr int kAddressRegisters = 8;
  const BackwardTile& tile = shape.tile;
  const int cols = kColsOfAtom * split.n;
  const int all_pages = tile.head_dim / cols;
  const int registers_per_page = tile.rows * cols / (32 * kWarps);
  const int registers = static_cast<int>(registers_of(tile).convert) - kAddressRegisters;
  const int pages_at_once = std::clamp(registers / registers_per_page - all_pages, 1, all_pages);
  const auto fragment = [&] {
    return m.fragment(tile.rows, cols, ElementType::fp32, Layout::accumulator, split);
  };
  std::vector<Fragment> sums;
  sums.reserve(static_cast<std::size_t>(all_pages));
  for (int page = 0; page < all_pages; ++page) {
    sums.push_back(fragment());
    m.fill(sums.back(), 0);
  }
  m.loop(kCopiesSlot, [&](const Affine& copy) {
    std::vector<Fragment> loaded;
    loaded.reserve(static_cast<std::size_t>(pages_at_once));
    for (int page = 0; page < pages_at_once; ++page) {
      loaded.push_back(fragment());
    }
    for (int first = 0; first < all_pages; first += pages_at_once) {
      const int end = std::min(first + pages_at_once, all_pages);
      for (int page = first; page < end; ++page) {
        m.load_sums(loaded[static_cast<std::size_t>(page - first)],
                    shape.sums(sums_tensor, copy, block_index(0), page * cols, cols));
      }
      m.part(kLoadedCopy);
      for (int page = first; page < end; ++page) {
        const Fragment& sum = sums[static_cast<std::size_t>(page)];
        m.apply(sum, BinaryOp::add, sum, loaded[static_cast<std::size_t>(page - first)]);
      }
    }
  });
  return sums;
}

std::vector<Fragment> only_sums(CtaMachine& m, const BackwardShape& shape, int sums_tensor,
                                const WarpSplit& split) {
  const BackwardTile& tile = shape.tile;
  const Fragment sums = m.fragment(tile.rows, tile.head_dim, ElementType::fp32, Layout::accumulator, split);
  m.load_sums(sums, shape.queries(sums_tensor, block_index(0)));
  m.apply(sums, BinaryOp::add, sums, 0.0F);  // the only copy
  return {sums};
}

void convert_grad_q(CtaMachine& m, const BackwardShape& shape, int sums_tensor, int grad_q) {
  const BackwardTile& tile = shape.tile;
  const auto scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(shape.problem.head_dim)));
  const WarpSplit split{tile.query_warps, kWarps / tile.query_warps, 1};
  m.part(kWholeKernel);
  const SharedTile shared{0, tile.rows, tile.head_dim, shape.type(), 1, {}};
  SharedTile page = shared;
  page.pitch = tile.head_dim;
  for (const Fragment& sums : shape.splits > 0 ? add_copies(m, shape, sums_tensor, split)
                                               : only_sums(m, shape, sums_tensor, split)) {
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

LaunchPlan row_products_launch(const BackwardShape& shape) {
  return one_cta_per_query_block(shape, "flash_bwd_dot_do_o_kernel", registers_of(shape.tile).row_products,
                                 [shape](CtaMachine& m) { row_products(m, shape); });
}

LaunchPlan convert_grad_q_launch(const BackwardShape& shape, int sums, int grad_q) {
  LaunchPlan launch =
      one_cta_per_query_block(shape, "flash_bwd_convert_dq_kernel", registers_of(shape.tile).convert,
                              [=](CtaMachine& m) { convert_grad_q(m, shape, sums, grad_q); });
  launch.shared_bytes_per_cta = static_cast<std::uint32_t>(2 * shape.tile.rows * shape.tile.head_dim);
  if (shape.splits > 0) {
    launch.classes.back().trip_counts.push_back(static_cast<std::uint32_t>(shape.splits));
  }
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

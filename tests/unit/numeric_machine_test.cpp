// The numeric machine: small programs that are right, and the same with one mistake.
#include "kernels/numeric/numeric_machine.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

#include "kernels/numeric/run_numeric.hpp"

namespace warpscope::kernels {
namespace {

constexpr int kRows = 16;
constexpr int kCols = 64;

// One CTA of four warps with a 16 x 64 input X, an output Y of the same size and an output R of one value per
// row.
NumericResult run(const std::function<void(CtaMachine&)>& text, std::vector<std::uint32_t> trips = {}) {
  KernelPlan plan;
  plan.tensors = {{"X", trace::TensorKind::input, 1, kRows, kCols, ElementType::fp16},
                  {"Y", trace::TensorKind::output, 1, kRows, kCols, ElementType::fp32},
                  {"R", trace::TensorKind::output, 1, kRows, 1, ElementType::fp32}};
  LaunchPlan launch;
  launch.warps = 4;
  launch.shared_bytes_per_cta = 8192;
  launch.programs.push_back({"test", text});
  launch.classes.push_back({0, std::move(trips), {}});
  plan.launches.push_back(launch);
  std::vector<float> x(kRows * kCols);
  std::iota(x.begin(), x.end(), 0.0F);
  return run_numeric(plan, {{"X", x}});
}

const GlobalTile kX{0, 0, 0, 0, kRows, kCols};
const GlobalTile kY{1, 0, 0, 0, kRows, kCols};
const GlobalTile kR{2, 0, 0, 0, kRows, 1};
const SharedTile kTile{0, kRows, kCols, ElementType::fp16, 1, {}};
constexpr WarpSplit kByColumns{1, 4, 1};

void copy_to_output(CtaMachine& m) {
  const Fragment values = m.fragment(kRows, kCols, ElementType::fp16, Layout::linear, {});
  m.load_shared(values, kTile);
  m.store(kY, values);
}

TEST(NumericMachine, AsyncCopyArrivesAfterWaitAndBarrier) {
  const NumericResult result = run([](CtaMachine& m) {
    m.copy_async(kTile, kX);
    m.commit_copies();
    m.wait_copies(0);
    m.barrier();
    copy_to_output(m);
  });
  EXPECT_EQ(result.tensors.at("Y").at(5), 5.0F);
}

TEST(NumericMachine, ForgottenWaitLeavesNothingToRead) {
  const NumericResult result = run([](CtaMachine& m) {
    m.copy_async(kTile, kX);
    m.commit_copies();
    m.wait_copies(1);
    m.barrier();
    copy_to_output(m);
  });
  EXPECT_TRUE(std::isnan(result.tensors.at("Y").at(5)));
}

TEST(NumericMachine, ForgottenBarrierLeavesNothingToRead) {
  const NumericResult result = run([](CtaMachine& m) {
    m.copy_async(kTile, kX);
    m.commit_copies();
    m.wait_copies(0);
    copy_to_output(m);
  });
  EXPECT_TRUE(std::isnan(result.tensors.at("Y").at(5)));
}

TEST(NumericMachine, SharedMemoryRacesAreNamed) {
  const auto with_barriers = [](bool before_read, bool before_write) {
    return [=](CtaMachine& m) {
      const Fragment x = m.fragment(kRows, kCols, ElementType::fp16, Layout::linear, {});
      m.fill(x, 1.0F);
      m.store_shared(kTile, x);
      if (before_read) {
        m.barrier();
      }
      m.load_shared(x, kTile);
      if (before_write) {
        m.barrier();
      }
      m.copy_async(kTile, kX);
      m.commit_copies();
      m.wait_copies(0);
      m.barrier();
    };
  };
  EXPECT_NO_THROW(run(with_barriers(true, true)));
  EXPECT_THROW(run(with_barriers(false, true)), std::logic_error);
  EXPECT_THROW(run(with_barriers(true, false)), std::logic_error);
}

TEST(NumericMachine, APaddedTileKeepsItsRowsApart) {
  // Columns 16 to 31 of a tile whose rows are 72 elements apart.
  SharedTile padded = kTile;
  padded.pitch = kCols + 8;
  SharedTile part{16 * element_bytes(ElementType::fp16), kRows, 16, ElementType::fp16, 1, {}};
  part.pitch = padded.pitch;
  const NumericResult result = run([&](CtaMachine& m) {
    m.copy_async(padded, kX);
    m.commit_copies();
    m.wait_copies(0);
    m.barrier();
    const Fragment values = m.fragment(kRows, 16, ElementType::fp16, Layout::linear, {});
    m.load_shared(values, part);
    m.store({1, 0, 0, 0, kRows, 16}, values);
  });
  EXPECT_EQ(result.tensors.at("Y").at(0), 16.0F);
  EXPECT_EQ(result.tensors.at("Y").at(3 * kCols + 2), 3.0F * kCols + 18);
}

// Row maxima of X, raised by every lane; `before` and `behind`: barriers around that.
NumericResult row_maxima(bool before, bool behind) {
  return run([=](CtaMachine& m) {
    const Fragment x = m.fragment(kRows, kCols, ElementType::fp32, Layout::accumulator, kByColumns);
    const Fragment owned = m.fragment(kRows, 4, ElementType::fp32, Layout::linear, {});
    const RowVector row = m.row_vector(owned);
    const SharedTile maxima{0, kRows, 1, ElementType::fp32, 1, {}};
    m.fill(row, 100.0F);
    m.store_shared(maxima, row);
    if (before) {
      m.barrier();
    }
    m.load(x, kX);
    m.max_shared(maxima, x);
    if (behind) {
      m.barrier();
    }
    m.load_shared(row, maxima);
    m.store_rows(kR, row);
  });
}

TEST(NumericMachine, LanesRaiseWhatSharedMemoryHolds) {
  const NumericResult result = row_maxima(true, true);
  EXPECT_EQ(result.tensors.at("R").at(0), 100.0F);
  EXPECT_EQ(result.tensors.at("R").at(1), 127.0F);
  EXPECT_EQ(result.tensors.at("R").at(15), 1023.0F);
  EXPECT_THROW(row_maxima(true, false), std::logic_error);
}

TEST(NumericMachine, OneThreadMayWriteWhatItHasRead) {
  const auto update = [](bool owned) {
    return run([=](CtaMachine& m) {
      const Fragment one = m.fragment(kRows, 4, ElementType::fp32, Layout::linear, {});
      const Fragment quads = m.fragment(kRows, kCols, ElementType::fp32, Layout::accumulator, kByColumns);
      const SharedTile rows{0, kRows, 1, ElementType::fp32, 1, {}};
      const RowVector value = m.row_vector(owned ? one : quads);
      m.fill(value, 3.0F);
      m.store_shared(rows, value);
      m.barrier();
      m.load_shared(value, rows);
      m.store_shared(rows, value);
    });
  };
  EXPECT_NO_THROW(update(true));
  EXPECT_THROW(update(false), std::logic_error);
}

// Row sums of X over columns that four warps share; `within` and `across` say which reductions happen.
NumericResult row_sums(bool within, bool across) {
  return run([=](CtaMachine& m) {
    const Fragment x = m.fragment(kRows, kCols, ElementType::fp32, Layout::accumulator, kByColumns);
    const RowVector sum = m.row_vector(x);
    const SharedTile parts{0, 4 * kRows, 1, ElementType::fp32, 1, {}};
    m.load(x, kX);
    m.reduce_rows(sum, Reduce::sum, x, false);
    if (within) {
      m.finish_rows(sum, Reduce::sum);
    }
    if (across) {
      m.store_parts(parts, sum);
      m.barrier();
      m.load_reduced(sum, parts, 4, Reduce::sum);
    }
    m.store_rows(kR, sum);
  });
}

TEST(NumericMachine, RowSumNeedsBothReductions) {
  const float want = 63.0F * 64.0F / 2.0F;
  EXPECT_EQ(row_sums(true, true).tensors.at("R").at(0), want);
  EXPECT_NE(row_sums(false, true).tensors.at("R").at(0), want);
  EXPECT_NE(row_sums(true, false).tensors.at("R").at(0), want);
}

TEST(NumericMachine, PartialProductsOfWarpsAddUp) {
  const NumericResult result = run([](CtaMachine& m) {
    const Fragment a = m.fragment(kRows, kCols, ElementType::fp16, Layout::accumulator, kByColumns);
    const Fragment b = m.fragment(kCols, kRows, ElementType::fp16, Layout::operand_b, kByColumns);
    const Fragment partial = m.fragment(kRows, kRows, ElementType::fp32, Layout::accumulator, {1, 1, 4});
    const Fragment sum = m.fragment(kRows, kRows, ElementType::fp32, Layout::linear_quads, {});
    const SharedTile parts{0, 4 * kRows, kRows, ElementType::fp32, 1, {}};
    m.load(a, kX);
    m.fill(b, 1.0F);
    m.fill(partial, 0.0F);
    m.mma(partial, a, b);
    m.store_parts(parts, partial);
    m.barrier();
    m.load_reduced(sum, parts, 4, Reduce::sum);
    m.store({1, 0, 0, 0, kRows, kRows}, sum);
  });
  EXPECT_EQ(result.tensors.at("Y").at(0), 63.0F * 64.0F / 2.0F);
  EXPECT_EQ(result.flops.matmul, 2 * kRows * kRows * kCols);
  EXPECT_EQ(result.flops.tile_add, 3 * kRows * kRows);
}

TEST(NumericMachine, LoopsGiveTheirIterationAndUnlessLastSparesTheLast) {
  const NumericResult result = run(
      [](CtaMachine& m) {
        const Fragment one = m.fragment(1, kCols, ElementType::fp32, Layout::linear, {});
        m.loop(0, [&](const Affine& iteration) {
          m.fill(one, 1.0F);
          m.unless_last([&] { m.fill(one, 2.0F); });
          m.store({1, 0, iteration * 2, 0, 1, kCols}, one);
        });
      },
      {3});
  EXPECT_EQ(result.tensors.at("Y").at(0), 2.0F);
  EXPECT_TRUE(std::isnan(result.tensors.at("Y").at(kCols)));
  EXPECT_EQ(result.tensors.at("Y").at(4 * kCols), 1.0F);
  EXPECT_TRUE(std::isnan(result.tensors.at("Y").at(6 * kCols)));
}

TEST(NumericMachine, ReadsBeyondTheTensorAreZeroAndWritesAreDropped) {
  const NumericResult result = run([](CtaMachine& m) {
    const Fragment x = m.fragment(kRows, kCols, ElementType::fp32, Layout::linear, {});
    m.load(x, {0, 0, 8, 0, kRows, kCols});
    m.store(kY, x);
    m.fill(x, 7.0F);
    m.store({1, 0, 15, 0, kRows, kCols}, x);
  });
  EXPECT_EQ(result.tensors.at("Y").at(0), 8.0F * kCols);
  EXPECT_EQ(result.tensors.at("Y").at(8 * kCols), 0.0F);
  EXPECT_EQ(result.tensors.at("Y").back(), 7.0F);
}

TEST(NumericMachine, MistakesOfProgramsAreNamed) {
  EXPECT_THROW(run([](CtaMachine& m) {
                 m.copy_async({8000, kRows, kCols, ElementType::fp16, 1, {}}, kX);
               }),
               std::logic_error);
  EXPECT_THROW(run([](CtaMachine& m) { m.loop(0, [](const Affine&) {}); }), std::logic_error);
  EXPECT_THROW(run([](CtaMachine& m) {
                 const Fragment x =
                     m.fragment(kRows, kCols, ElementType::fp32, Layout::accumulator, kByColumns);
                 const Fragment other = m.fragment(kRows, kCols, ElementType::fp32, Layout::linear, {});
                 m.apply(x, BinaryOp::multiply, x, m.row_vector(other));
               }),
               std::logic_error);
}

TEST(NumericMachine, InputsMustFitThePlan) {
  KernelPlan plan;
  plan.tensors = {{"X", trace::TensorKind::input, 1, 2, 2, ElementType::fp32}};
  EXPECT_THROW(run_numeric(plan, {}), std::invalid_argument);
  EXPECT_THROW(run_numeric(plan, {{"X", {1, 2, 3}}}), std::invalid_argument);
  EXPECT_THROW(run_numeric(plan, {{"X", {1, 2, 3, 4}}, {"Z", {}}}), std::invalid_argument);
}

}  // namespace
}  // namespace warpscope::kernels

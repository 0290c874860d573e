#include "kernels/row_softmax/row_softmax.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <vector>

#include "kernels/device_memory.hpp"
#include "kernels/unsupported.hpp"

namespace warpscope::kernels {
namespace {

constexpr int kWarps = 4;  // a row each
constexpr int kLanes = 32;
constexpr int kMostCols = 2048;  // 64 registers per lane hold a row
constexpr int kX = 0;            // indices into KernelPlan::tensors
constexpr int kY = 1;

/// The CTA program: each warp holds its row in registers from the load to the store.
void run(CtaMachine& machine, std::int64_t cols, ElementType type) {
  const int padded = static_cast<int>((cols + kLanes - 1) / kLanes * kLanes);
  const WarpSplit split{kWarps, 1, 1};
  const Fragment stored = machine.fragment(kWarps, padded, type, Layout::row_per_warp, split);
  const Fragment x = machine.fragment(kWarps, padded, ElementType::fp32, Layout::row_per_warp, split);
  const RowVector maximum = machine.row_vector(x);
  const RowVector sum = machine.row_vector(x);
  const auto log2_e = static_cast<float>(std::numbers::log2e);

  machine.load(stored, GlobalTile{kX, 0, block_index(0) * kWarps, 0, kWarps, padded});
  machine.convert(x, stored);
  if (padded > cols) {
    machine.mask(x, Mask{0, 0, cols, false, 0});
  }
  machine.reduce_rows(maximum, Reduce::max, x, false);
  machine.finish_rows(maximum, Reduce::max);
  machine.apply(maximum, BinaryOp::multiply, maximum, log2_e);
  machine.exp2_scaled(x, log2_e, maximum);
  machine.reduce_rows(sum, Reduce::sum, x, false);
  machine.finish_rows(sum, Reduce::sum);
  machine.apply(sum, UnaryOp::reciprocal, sum);
  machine.apply(x, BinaryOp::multiply, x, sum);
  machine.convert(stored, x);
  machine.store(GlobalTile{kY, 0, block_index(0) * kWarps, 0, kWarps, padded}, stored);
}

}  // namespace

KernelPlan plan_row_softmax(const Problem& problem, const GpuLimits& limits) {
  const auto [rows, cols, depth] = problem.matrix;
  if (cols > kMostCols) {
    throw UnsupportedProblem(
        fmt::format("row_softmax keeps a row in registers: cols is {}, legal is up to {}", cols, kMostCols));
  }
  const ElementType type = problem.dtype == DataType::fp16 ? ElementType::fp16 : ElementType::bf16;
  KernelPlan plan;
  plan.tensors = {{"x", trace::TensorKind::input, 1, rows, cols, type},
                  {"y", trace::TensorKind::output, 1, rows, cols, type}};
  require_memory(plan.tensors, limits);

  LaunchPlan launch;
  launch.name = "row_softmax";
  launch.grid = {static_cast<std::uint32_t>((rows + kWarps - 1) / kWarps), 1, 1};
  launch.warps = kWarps;
  launch.registers_per_thread = static_cast<std::uint32_t>(32 + (cols + kLanes - 1) / kLanes);
  launch.programs.push_back({"rows", [cols = cols, type](CtaMachine& machine) { run(machine, cols, type); }});
  launch.classes.push_back({.program = 0, .trip_counts = {}, .symbols = {}});
  plan.launches.push_back(launch);
  return plan;
}

Reference row_softmax_reference(const Problem& problem, const TensorValues& inputs) {
  const std::vector<float>& x = inputs.at("x");
  Reference reference{"y", std::vector<double>(x.begin(), x.end()), 0};
  const std::ptrdiff_t cols = problem.matrix.cols;
  for (auto row = reference.values.begin(); row != reference.values.end(); row += cols) {
    const double maximum = *std::max_element(row, row + cols);
    std::transform(row, row + cols, row, [&](double value) { return std::exp(value - maximum); });
    const double sum = std::accumulate(row, row + cols, 0.0);
    std::transform(row, row + cols, row, [&](double value) { return value / sum; });
    reference.magnitude = std::max(reference.magnitude, 1 / sum);  // of the row's largest value
  }
  return reference;
}

}  // namespace warpscope::kernels

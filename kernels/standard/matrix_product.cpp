#include "kernels/standard/matrix_product.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/device_memory.hpp"
#include "kernels/standard/gemm.hpp"
#include "kernels/unsupported.hpp"

namespace warpscope::kernels {

KernelPlan plan_gemm(const Problem& problem, const GpuLimits& limits) {
  const auto [rows, cols, depth] = problem.matrix;
  constexpr std::int64_t kElementsPerCopy = 8;  // of 16 bytes: rows must begin at a multiple of them
  if (cols % kElementsPerCopy != 0 || depth % kElementsPerCopy != 0) {
    throw UnsupportedProblem(
        fmt::format("gemm takes columns and depths that are multiples of {}, not {} and {}", kElementsPerCopy,
                    cols, depth));
  }
  const ElementType type = problem.dtype == DataType::fp16 ? ElementType::fp16 : ElementType::bf16;
  KernelPlan plan;
  plan.tensors = {{"A", trace::TensorKind::input, problem.batch, rows, depth, type},
                  {"B", trace::TensorKind::input, problem.batch, depth, cols, type},
                  {"C", trace::TensorKind::output, problem.batch, rows, cols, type}};
  require_memory(plan.tensors, limits);
  plan.launches.push_back(standard::library_gemm_launch({.name = "gemm",
                                                         .a = 0,
                                                         .b = 1,
                                                         .c = 2,
                                                         .m = rows,
                                                         .n = cols,
                                                         .k = depth,
                                                         .batch = problem.batch,
                                                         .type = type},
                                                        limits));
  return plan;
}

Reference gemm_reference(const Problem& problem, const TensorValues& inputs) {
  const auto rows = static_cast<std::size_t>(problem.matrix.rows);
  const auto cols = static_cast<std::size_t>(problem.matrix.cols);
  const auto depth = static_cast<std::size_t>(problem.matrix.depth);
  const auto batch = static_cast<std::size_t>(problem.batch);
  const std::vector<float>& a = inputs.at("A");
  const std::vector<float>& b = inputs.at("B");
  Reference reference{"C", std::vector<double>(batch * rows * cols), 0};
  for (std::size_t row = 0; row < batch * rows; ++row) {  // rows of all segments
    double* sums = &reference.values[row * cols];
    for (std::size_t k = 0; k < depth; ++k) {
      const auto factor = static_cast<double>(a[row * depth + k]);
      const float* row_of_b = &b[(row / rows * depth + k) * cols];
      for (std::size_t col = 0; col < cols; ++col) {
        sums[col] += factor * static_cast<double>(row_of_b[col]);
      }
    }
  }
  for (const double value : reference.values) {
    reference.magnitude = std::max(reference.magnitude, std::abs(value));
  }
  return reference;
}

}  // namespace warpscope::kernels

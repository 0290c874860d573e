// Standard attention, FlashAttention-1 and FlashAttention-2 over the grid of the FlashAttention-2 paper.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "experiments/data/forward_reference.hpp"
#include "experiments/point/point.hpp"
#include "experiments/store/point_result.hpp"
#include "experiments/study/study_run.hpp"

namespace warpscope::experiments {

/// The three ways to compute attention that are compared.
enum class Method { standard, fa1, fa2, count };
inline constexpr std::size_t kMethods = static_cast<std::size_t>(Method::count);
std::string_view name(Method method);
/// Its colour in all charts.
std::string colour(Method method);

/// A GPU of the study, its kernel of each method, and what its bars are held against.
struct GridGpu {
  std::string_view name;
  std::string_view label;
  std::array<std::string_view, kMethods> kernels;
  std::string_view reference;  ///< empty where there is none
};
std::span<const GridGpu> grid_gpus();

inline constexpr std::array<int, 2> kGridHeadDims = {64, 128};
inline constexpr std::array<int, 6> kGridSeqlens = {512, 1024, 2048, 4096, 8192, 16384};

/// 16384 tokens in all and hidden size 2048, as in the paper.
Point grid_point(std::string_view gpu, std::string_view kernel, int head_dim, bool causal, int seqlen);

/// One point, its reference and what the model says.
struct GridPoint {
  const GridGpu* gpu = nullptr;
  Method method = Method::standard;
  Point point;
  const ForwardReference* reference = nullptr;

  std::string error;  ///< why there is no result; empty if there is one
  double time_us = 0;
  std::int64_t cycles = 0;
  double tflops = 0;
  std::uint64_t read_bytes = 0;
  std::uint64_t write_bytes = 0;
  std::uint64_t compulsory_bytes = 0;
  std::string limiter;
  std::string busiest;
  double busiest_share = 0;
  std::vector<std::pair<std::string, double>> stalls;  ///< share of warp cycles, largest first

  bool has_error_against_reference() const {
    return error.empty() && reference != nullptr && reference->tflops;
  }
  /// Model over reference less one.
  double relative_error() const { return tflops / *reference->tflops - 1; }
};

/// All points of all GPUs: by GPU, head dimension, causal, length, method.
std::vector<GridPoint> forward_grid(const ForwardReferences& references);
std::vector<Point> points_of(std::span<const GridPoint> grid);
void take_result(GridPoint& point, const PointResult& result);
/// Fills in what the model says, from results in the order of points_of().
void take_results(std::vector<GridPoint>& grid, std::span<const StudyResult> results);

}  // namespace warpscope::experiments

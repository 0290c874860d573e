// The study non-matmul: what a FLOP costs that no tensor pipe does, by changing the rates of the pipes.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/study/study_run.hpp"
#include "model/hw/hw_config.hpp"

namespace warpscope::experiments {

/// What is swept.
enum class Rate { tensor, exponential, shared, count };
inline constexpr std::size_t kRates = static_cast<std::size_t>(Rate::count);

/// A GPU with one rate changed; the one with the stock value is the GPU itself.
struct RateSetting {
  Rate rate = Rate::tensor;
  double value = 0;         ///< tensor FLOP per FP32 FLOP; exponentials/clk of a sub-core; bytes/clk of an SM
  int interval_cycles = 0;  ///< of HMMA.16816
  bool half = false;        ///< FMA, IMAD, ALU and XU lanes halved on top
  bool stock = false;
  std::vector<std::string> overrides;
};

/// All settings of one GPU, by rate and value; the tensor rates once with full and once with half lanes.
std::vector<RateSetting> rate_settings(const hw::HwConfig& config);
/// Peak FLOP/s of HMMA.16816 over peak FP32 FLOP/s, a fused multiply-add counted as two: 16 on an A100.
double peak_ratio(const hw::HwConfig& config);

/// One kernel on one GPU with one rate changed, and what the model says.
struct RatePoint {
  std::string_view gpu_label;
  RateSetting setting;
  Point point;
  StudyResult outcome;
};
std::vector<RatePoint> rate_points();

/// How much of the work in question one run did, and what more of it costs.
struct ExchangeRate {
  double non_matmul_slowdown = 0;  ///< time with half the lanes over time, less one
  double matmul_slowdown = 0;      ///< time with twice the HMMA interval over time, less one
  /// Matmul FLOPs that add as much time as one non-matmul FLOP. None where more matmul work adds so little
  /// time that the quotient is of two small differences.
  std::optional<double> matmul_flops;
};

/// The price of a non-matmul FLOP in matmul FLOPs, for the kernel and tensor rate of `point`, all of it
/// counted:
///   (T(half lanes) - T) / N   over   (T(twice the interval) - T) / M.
/// Halving the lanes of the FMA, ALU and XU pipes is, to these pipes, as much more work as they have done; so
/// the first difference is the time that N further FLOPs take, and the second the time of M further matmul
/// FLOPs. N: warp instructions counted on the three pipes x 32 lanes x 2, as peak FP32 rates count an
/// operation. M: HMMA counted x 4096. None if a run of the three is missing.
std::optional<ExchangeRate> exchange_rate(const RatePoint& point, std::span<const RatePoint> points);

std::string non_matmul_report(std::span<const RatePoint> points);
/// Where the limit of the two kernels moves, and the prices at the stock rates.
std::string non_matmul_findings(std::span<const RatePoint> points);
StudyOutput non_matmul_output(std::span<const RatePoint> points);

void run_non_matmul(const StudyOptions& options);

}  // namespace warpscope::experiments

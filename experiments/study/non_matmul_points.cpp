// The settings and points of non-matmul.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "experiments/study/forward_grid.hpp"
#include "experiments/study/non_matmul.hpp"
#include "model/hw/config_loader.hpp"

namespace warpscope::experiments {
namespace {

constexpr double kFlopsPerHmma = 2.0 * 16 * 8 * 16;
constexpr int kSeqlen = 4096;
constexpr int kMostReadCycles = 32;  // that the key may have

double ratio_at(const hw::HwConfig& config, int interval_cycles) {
  constexpr double kFlopsPerLane = 2;
  return kFlopsPerHmma / interval_cycles / (kFlopsPerLane * config.sm.fma.lanes);
}

/// The HMMA.16816 issues every `interval` cycles; what its latency has beyond the interval stays, and so does
/// the share of the interval in which it reads its operands.
std::vector<std::string> tensor_overrides(const hw::TensorShape& stock, int interval) {
  const int reads = static_cast<int>(
      std::lround(static_cast<double>(stock.read_cycles) * interval / stock.interval_cycles));
  const std::string key = "sm.tensor.hmma_16816.";
  return {fmt::format("{}interval_cycles={}", key, interval),
          fmt::format("{}latency_cycles={}", key, stock.latency_cycles - stock.interval_cycles + interval),
          fmt::format("{}read_cycles={}", key, std::clamp(reads, 1, kMostReadCycles))};
}

std::vector<std::string> half_lanes(const hw::Sm& sm) {
  return {fmt::format("sm.fma.lanes={}", sm.fma.lanes / 2),
          fmt::format("sm.imad.lanes={}", sm.imad.lanes / 2),
          fmt::format("sm.alu.lanes={}", sm.alu.lanes / 2), fmt::format("sm.xu.lanes={}", sm.xu.lanes / 2)};
}

void add_tensor_rates(const hw::HwConfig& config, std::vector<RateSetting>& settings) {
  const hw::TensorShape& stock = config.sm.tensor.hmma_16816;
  // The stock interval, and twice that for the slope there.
  std::set<int, std::greater<>> intervals = {stock.interval_cycles, 2 * stock.interval_cycles};
  for (const int ratio : {1, 2, 4, 8, 16, 32, 64}) {
    intervals.insert(std::max(1, static_cast<int>(std::lround(ratio_at(config, 1) / ratio))));
  }
  for (const int interval : intervals) {
    RateSetting setting{Rate::tensor, ratio_at(config, interval), interval, false, false, {}};
    setting.stock = interval == stock.interval_cycles;
    if (!setting.stock) {
      setting.overrides = tensor_overrides(stock, interval);
    }
    settings.push_back(setting);
    // Half the lanes say something beside twice the interval only.
    if (intervals.contains(2 * interval)) {
      setting.half = true;
      setting.stock = false;
      std::ranges::copy(half_lanes(config.sm), std::back_inserter(setting.overrides));
      settings.push_back(std::move(setting));
    }
  }
}

}  // namespace

double peak_ratio(const hw::HwConfig& config) {
  return ratio_at(config, config.sm.tensor.hmma_16816.interval_cycles);
}

std::vector<RateSetting> rate_settings(const hw::HwConfig& config) {
  std::vector<RateSetting> settings;
  add_tensor_rates(config, settings);
  const int interval = config.sm.tensor.hmma_16816.interval_cycles;
  const auto add = [&](Rate rate, int value, int stock, std::vector<std::string> overrides) {
    const bool is_stock = value == stock;
    settings.push_back({rate, static_cast<double>(value), interval, false, is_stock,
                        is_stock ? std::vector<std::string>() : std::move(overrides)});
  };
  for (const int lanes : {1, 2, 4, 8, 16, 32}) {
    add(Rate::exponential, lanes, config.sm.xu.lanes, {fmt::format("sm.xu.lanes={}", lanes)});
  }
  const hw::SharedMemory& shared = config.sm.shared;
  for (const int bytes : {16, 32, 64, 128, 256}) {
    add(Rate::shared, bytes, shared.bytes_per_clk,
        {fmt::format("sm.shared.bytes_per_clk={}", bytes),
         fmt::format("sm.shared.sub_core_bytes_per_clk={}",
                     std::max(1, bytes * shared.sub_core_bytes_per_clk / shared.bytes_per_clk))});
  }
  return settings;
}

std::vector<RatePoint> rate_points() {
  std::vector<RatePoint> points;
  for (const GridGpu& gpu : grid_gpus().first(2)) {
    const std::vector<RateSetting> settings =
        rate_settings(hw::load(std::string(gpu.name), {}, config_directory()).config);
    for (const int head_dim : kGridHeadDims) {
      for (const Method method : {Method::fa1, Method::fa2}) {
        for (const RateSetting& setting : settings) {
          RatePoint point{gpu.label, setting, {}, {}};
          point.point =
              grid_point(gpu.name, gpu.kernels[static_cast<std::size_t>(method)], head_dim, false, kSeqlen);
          point.point.model.overrides = setting.overrides;
          points.push_back(std::move(point));
        }
      }
    }
  }
  return points;
}

std::optional<ExchangeRate> exchange_rate(const RatePoint& point, std::span<const RatePoint> points) {
  const auto find = [&](int interval, bool half) -> const PointResult* {
    const auto found = std::ranges::find_if(points, [&](const RatePoint& other) {
      return other.setting.rate == Rate::tensor && other.setting.interval_cycles == interval &&
             other.setting.half == half && other.point.model.gpu == point.point.model.gpu &&
             other.point.kernel == point.point.kernel &&
             other.point.problem.head_dim == point.point.problem.head_dim;
    });
    return found != points.end() && found->outcome.done() ? &found->outcome.result : nullptr;
  };
  const int interval = point.setting.interval_cycles;
  const PointResult* base = find(interval, false);
  const PointResult* half = find(interval, true);
  const PointResult* twice = find(2 * interval, false);
  if (base == nullptr || half == nullptr || twice == nullptr) {
    return std::nullopt;
  }
  constexpr double kWarpLanes = 32;
  constexpr double kFlopsPerOperation = 2;
  const double matmul_flops = base->metric("sm__inst_executed_pipe_tensor_op_hmma.sum") * kFlopsPerHmma;
  const double other_flops =
      kWarpLanes * kFlopsPerOperation *
      (base->metric("sm__inst_executed_pipe_fma.sum") + base->metric("sm__inst_executed_pipe_alu.sum") +
       base->metric("sm__inst_executed_pipe_xu.sum"));
  ExchangeRate rate;
  rate.non_matmul_slowdown = half->time_us / base->time_us - 1;
  rate.matmul_slowdown = twice->time_us / base->time_us - 1;
  // The model's own error on a time is a few per cent.
  constexpr double kLeastSlowdown = 0.1;
  if (rate.matmul_slowdown >= kLeastSlowdown && other_flops > 0) {
    rate.matmul_flops = (rate.non_matmul_slowdown / other_flops) / (rate.matmul_slowdown / matmul_flops);
  }
  return rate;
}

}  // namespace warpscope::experiments

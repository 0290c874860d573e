#include "experiments/report/utilisation.hpp"

#include <algorithm>

#include "experiments/report/totals.hpp"

namespace warpscope::experiments {
namespace {

constexpr double kSectorBytes = 32;

}  // namespace

std::string_view name(Resource resource) {
  static constexpr std::array<std::string_view, kResources> kNames = {
      "tensor pipe", "issue slots", "FMA pipe", "ALU pipe", "XU pipe", "shared data path", "L2", "HBM"};
  return kNames[static_cast<std::size_t>(resource)];
}

Utilisation utilisation(const hw::HwConfig& config, const metrics::LaunchResult& launch) {
  Utilisation busy{};
  if (launch.cycles <= 0 || launch.time_us <= 0) {
    return busy;
  }
  const auto metric = [&](const char* metric_name) { return value(launch.metrics, metric_name); };
  const auto set = [&](Resource resource, double share) { busy[static_cast<std::size_t>(resource)] = share; };
  const double cycles = static_cast<double>(launch.cycles);
  const double slots = cycles * config.gpu.sm_count * config.sm.sub_cores;
  // The model gives these as a share of the cycles in which an SM held a CTA.
  const double active = metric("sm__cycles_active.avg") / cycles / 100;
  set(Resource::tensor, active * metric("sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active"));
  set(Resource::fma, active * metric("sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active"));
  set(Resource::alu, active * metric("sm__pipe_alu_cycles_active.avg.pct_of_peak_sustained_active"));
  set(Resource::xu, active * metric("sm__pipe_xu_cycles_active.avg.pct_of_peak_sustained_active"));
  set(Resource::data_path,
      active * metric("l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_active"));
  set(Resource::issue, metric("sm__inst_executed.sum") / slots);
  const double read_bytes = metric("lts__t_sectors_op_read.sum") * kSectorBytes;
  const double written_bytes = metric("lts__t_sectors_op_write.sum") * kSectorBytes;
  // What HBM brings takes the way in, as what SMs write does.
  set(Resource::l2,
      std::max((read_bytes + written_bytes) / config.l2.bytes_per_clk,
               (written_bytes + metric("dram__bytes_read.sum")) / config.l2.write_bytes_per_clk) /
          cycles);
  constexpr double kBytesPerMicrosecond = 1e3;  // in a GB/s
  set(Resource::hbm, (metric("dram__bytes_read.sum") + metric("dram__bytes_write.sum")) /
                         (launch.time_us * config.hbm.peak_gb_per_s * kBytesPerMicrosecond));
  return busy;
}

Utilisation utilisation(const Run& run) {
  Utilisation total{};
  for (const metrics::LaunchResult& launch : run.result.launches) {
    const Utilisation busy = utilisation(run.config, launch);
    for (std::size_t i = 0; i < kResources; ++i) {
      total[i] += busy[i] * static_cast<double>(launch.cycles) /
                  std::max(1.0, static_cast<double>(run.result.cycles));
    }
  }
  return total;
}

Resource busiest(const Utilisation& busy) {
  return static_cast<Resource>(std::ranges::max_element(busy) - busy.begin());
}

std::string limiter_name(const Utilisation& busy) {
  // Below this, waiting for results and too few warps to cover it weigh more than any one resource.
  constexpr double kLimiting = 0.6;
  const Resource resource = busiest(busy);
  return std::string(busy[static_cast<std::size_t>(resource)] >= kLimiting ? name(resource) : "latency");
}

MatmulPeak matmul_peak(const Run& run) {
  constexpr double kFlopsPerHmma = 2.0 * 16 * 8 * 16;
  constexpr double kMegaPerTera = 1e6;
  const hw::HwConfig& config = run.config;
  const bool wgmma = std::ranges::any_of(run.result.launches, [](const metrics::LaunchResult& launch) {
    const auto products = launch.metrics.find("sm__inst_executed_pipe_tensor_op_gmma.sum");
    return products != launch.metrics.end() && products->second > 0;
  });
  const double flops_per_clk = wgmma ? config.sm.tensor.wgmma.flops_per_clk
                                     : kFlopsPerHmma / config.sm.tensor.hmma_16816.interval_cycles;
  return {config.gpu.sm_count * config.sm.sub_cores * flops_per_clk * config.clock.tensor_mhz / kMegaPerTera,
          wgmma ? "wgmma" : "mma.sync"};
}

}  // namespace warpscope::experiments

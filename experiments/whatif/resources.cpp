#include "experiments/whatif/resources.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace warpscope::experiments {
namespace {

constexpr double kStep = 1.1;
constexpr int kWarpLanes = 32;

template <typename Number>
std::string set(std::string_view key, Number value) {
  return fmt::format("{}={}", key, value);
}

/// A size or rate that comes in multiples of `unit`.
Improvement more(std::string_view resource, std::string_view key, std::int64_t now, std::int64_t unit = 1) {
  const auto units =
      static_cast<std::int64_t>(std::ceil(static_cast<double>(now) * kStep / static_cast<double>(unit)));
  const std::int64_t better = units * unit;
  return {resource, {set(key, better)}, static_cast<double>(better) / static_cast<double>(now)};
}

/// A time in whole cycles; nothing where it is one already.
Improvement less(std::string_view resource, std::string_view key, int now) {
  const int better = std::max(1, std::min(now - 1, static_cast<int>(std::floor(now / kStep))));
  return {resource, {set(key, better)}, static_cast<double>(now) / better};
}

/// Lanes of a pipe, which divide a warp.
Improvement twice_the_lanes(std::string_view resource, std::string_view key, int now) {
  const int better = std::min(kWarpLanes, 2 * now);
  return {resource, {set(key, better)}, static_cast<double>(better) / now};
}

Improvement tensor_rate(const hw::Tensor& tensor) {
  Improvement result =
      less("tensor rate", "sm.tensor.hmma_16816.interval_cycles", tensor.hmma_16816.interval_cycles);
  // Operands come as much sooner, or nothing is won where reading them sets the pace.
  const int reads = static_cast<int>(std::lround(tensor.hmma_16816.read_cycles / result.factor));
  result.changes.push_back(set("sm.tensor.hmma_16816.read_cycles", std::max(1, reads)));
  return result;
}

/// Of the SM; the most that one CTA may take stays, so that kernels keep their tiles.
Improvement shared_memory(const hw::SharedMemory& shared) {
  return more("shared memory size", "sm.shared.bytes", shared.bytes, shared.allocation_bytes);
}

Improvement l2_rate(const hw::L2& l2) {
  Improvement result = more("L2 bandwidth", "l2.bytes_per_clk", l2.bytes_per_clk);
  const auto raise = [&](std::string_view key, int now) {
    result.changes.push_back(set(key, static_cast<int>(std::ceil(now * result.factor))));
  };
  raise("l2.write_bytes_per_clk", l2.write_bytes_per_clk);
  raise("l2.lines_per_clk", l2.lines_per_clk);
  raise("l2.sm_bytes_per_clk", l2.sm_bytes_per_clk);
  return result;
}

Improvement hbm_latency(const hw::HwConfig& config) {
  return {"HBM latency",
          {set("hbm.latency_ns", config.hbm.latency_ns / kStep),
           set("hbm.page_wait_ns", config.hbm.page_wait_ns / kStep)},
          kStep};
}

}  // namespace

std::vector<Improvement> improvements(const hw::HwConfig& config) {
  const hw::Sm& sm = config.sm;
  std::vector<Improvement> all = {
      tensor_rate(sm.tensor),
      more("register banks", "sm.operands.banks", sm.operands.banks, 1),
      twice_the_lanes("XU lanes (MUFU)", "sm.xu.lanes", sm.xu.lanes),
      twice_the_lanes("FMA lanes", "sm.fma.lanes", sm.fma.lanes),
      twice_the_lanes("ALU lanes", "sm.alu.lanes", sm.alu.lanes),
      less("memory issue (MIO)", "sm.mio.min_interval_cycles", sm.mio.min_interval_cycles),
      more("shared memory bandwidth", "sm.shared.bytes_per_clk", sm.shared.bytes_per_clk),
      less("shared memory latency", "sm.shared.base_latency_cycles", sm.shared.base_latency_cycles),
      more("registers", "sm.registers", sm.registers,
           std::int64_t{sm.register_allocation_unit} * sm.sub_cores),
      shared_memory(sm.shared),
      less("branches", "sm.issue.branch_cycles", sm.issue.branch_cycles),
      l2_rate(config.l2),
      less("L2 latency", "l2.hit_latency_cycles", config.l2.hit_latency_cycles),
      more("L2 capacity", "l2.capacity_bytes", config.l2.capacity_bytes),
      {"HBM bandwidth", {set("hbm.peak_gb_per_s", config.hbm.peak_gb_per_s * kStep)}, kStep},
      hbm_latency(config),
      {"power limit",
       {set("power.limit_w", config.power.limit_w * kStep)},
       config.power.limit_w > 0 ? kStep : 1},
      more("SMs", "gpu.sm_count", config.gpu.sm_count),
  };
  all.back().is_whole_sm = true;
  std::erase_if(all, [](const Improvement& improvement) { return improvement.factor <= 1; });
  return all;
}

}  // namespace warpscope::experiments

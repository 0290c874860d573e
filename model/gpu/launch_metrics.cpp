#include "model/gpu/launch_metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <utility>

#include "model/gpu/power.hpp"

namespace warpscope::gpu {
namespace {

using trace::OpClass;
using trace::Pipe;

/// Instruction-count metrics: which opcodes a name sums over.
struct CountMetric {
  std::string_view name;
  bool (*counts)(const trace::OpcodeInfo& op);
};

bool is_matrix_load(const trace::OpcodeInfo& op) {
  return op.name.starts_with("LDSM");
}

constexpr std::array kCountMetrics = {
    CountMetric{"sm__inst_executed.sum", [](const trace::OpcodeInfo&) { return true; }},
    CountMetric{"sm__inst_executed_pipe_tensor.sum",
                [](const trace::OpcodeInfo& op) { return op.pipe == Pipe::tensor; }},
    CountMetric{"sm__inst_executed_pipe_tensor_op_hmma.sum",
                [](const trace::OpcodeInfo& op) { return op.pipe == Pipe::tensor; }},
    CountMetric{"sm__inst_executed_pipe_tensor_op_gmma.sum",
                [](const trace::OpcodeInfo& op) { return op.op_class == trace::OpClass::wgmma; }},
    CountMetric{"sm__inst_executed_pipe_fma.sum",
                [](const trace::OpcodeInfo& op) { return op.pipe == Pipe::fma; }},
    CountMetric{"sm__inst_executed_pipe_alu.sum",
                [](const trace::OpcodeInfo& op) { return op.pipe == Pipe::alu; }},
    CountMetric{"sm__inst_executed_pipe_xu.sum",
                [](const trace::OpcodeInfo& op) { return op.pipe == Pipe::xu; }},
    CountMetric{"sm__inst_executed_pipe_lsu.sum",
                [](const trace::OpcodeInfo& op) { return op.pipe == Pipe::lsu; }},
    CountMetric{"sm__inst_executed_pipe_uniform.sum",
                [](const trace::OpcodeInfo& op) { return op.pipe == Pipe::uniform; }},
    CountMetric{"smsp__inst_executed_op_ldsm.sum", is_matrix_load},
    CountMetric{"smsp__inst_executed_op_ldgsts.sum",
                [](const trace::OpcodeInfo& op) { return op.op_class == OpClass::async_copy; }},
    CountMetric{"smsp__inst_executed_op_shared_ld.sum",
                [](const trace::OpcodeInfo& op) {
                  return op.op_class == OpClass::shared_load && !is_matrix_load(op);
                }},
    CountMetric{"smsp__inst_executed_op_shared_st.sum",
                [](const trace::OpcodeInfo& op) { return op.op_class == OpClass::shared_store; }},
    CountMetric{"smsp__inst_executed_op_local_ld.sum",
                [](const trace::OpcodeInfo& op) { return op.op_class == OpClass::local_load; }},
    CountMetric{"smsp__inst_executed_op_local_st.sum",
                [](const trace::OpcodeInfo& op) { return op.op_class == OpClass::local_store; }},
    CountMetric{"smsp__inst_executed_op_global_ld.sum",
                [](const trace::OpcodeInfo& op) { return op.op_class == OpClass::global_load; }},
    CountMetric{"smsp__inst_executed_op_global_st.sum",
                [](const trace::OpcodeInfo& op) { return op.op_class == OpClass::global_store; }},
    CountMetric{"smsp__inst_executed_op_global_red.sum",
                [](const trace::OpcodeInfo& op) { return op.op_class == OpClass::global_reduce; }},
    CountMetric{"smsp__inst_executed_op_barrier.sum",
                [](const trace::OpcodeInfo& op) { return op.op_class == OpClass::barrier; }},
    CountMetric{"smsp__inst_executed_op_branch.sum",
                [](const trace::OpcodeInfo& op) { return op.op_class == OpClass::branch; }},
};

/// Of the cycles of sub-cores in which their SM held a CTA.
constexpr std::array kBusyMetrics = {
    std::pair{sm::PipeSlot::tensor, "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active"},
    std::pair{sm::PipeSlot::fma, "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active"},
    std::pair{sm::PipeSlot::alu, "sm__pipe_alu_cycles_active.avg.pct_of_peak_sustained_active"},
    std::pair{sm::PipeSlot::xu, "sm__pipe_xu_cycles_active.avg.pct_of_peak_sustained_active"},
};

void add_stalls(metrics::LaunchResult& result, const sm::SmCounters& counters, std::uint64_t instructions) {
  result.stall_warp_cycles = counters.stall_warp_cycles;
  for (std::size_t i = 0; i < metrics::kStallReasons; ++i) {
    result.metrics[metrics::metric(static_cast<metrics::Stall>(i))] =
        instructions == 0
            ? 0
            : static_cast<double>(counters.stall_warp_cycles[i]) / static_cast<double>(instructions);
  }
}

void add_traffic(metrics::LaunchResult& result, const trace::Trace& trace, const LaunchCounts& counts) {
  const std::vector<metrics::MovedBytes>& moved = counts.tensors;
  result.code_bytes = counts.code_bytes;
  result.earlier_bytes = counts.earlier_bytes;
  auto dram_read = static_cast<double>(counts.code_bytes);
  auto dram_write = static_cast<double>(counts.earlier_bytes);
  double l2_read = 0;
  double l2_write = 0;
  double l2_hit = 0;
  for (std::size_t t = 0; t < trace.tensors.size(); ++t) {
    metrics::TensorTraffic traffic{trace.tensors[t].name, moved[t].l2_read,  moved[t].l2_read_hit,
                                   moved[t].l2_write,     moved[t].hbm_read, moved[t].hbm_write};
    dram_read += static_cast<double>(traffic.dram_read_bytes);
    dram_write += static_cast<double>(traffic.dram_write_bytes);
    l2_read += static_cast<double>(traffic.l2_read_bytes);
    l2_write += static_cast<double>(traffic.l2_write_bytes);
    l2_hit += static_cast<double>(traffic.l2_read_hit_bytes);
    result.traffic.push_back(std::move(traffic));
  }
  constexpr double kSectorBytes = 32;
  result.metrics["dram__bytes_read.sum"] = dram_read;
  result.metrics["dram__bytes_write.sum"] = dram_write;
  result.metrics["lts__t_sectors_op_read.sum"] = l2_read / kSectorBytes;
  result.metrics["lts__t_sectors_op_write.sum"] = l2_write / kSectorBytes;
  result.metrics["lts__t_sectors_srcunit_tex_lookup_hit.sum"] = l2_hit / kSectorBytes;
}

}  // namespace

metrics::LaunchResult launch_result(const hw::HwConfig& config, const trace::Trace& trace,
                                    const trace::Launch& launch, const LaunchCounts& counts) {
  metrics::LaunchResult result;
  result.name = launch.name;
  result.grid = launch.grid;
  result.threads_per_cta = launch.threads_per_cta;
  result.cycles = counts.cycles;
  result.sm_clock_mhz = counts.sm_clock_mhz;
  result.time_us = static_cast<double>(counts.cycles) / counts.sm_clock_mhz;
  result.energy = launch_energy(config.power.energy, counts);
  result.occupancy = counts.occupancy;

  for (const CountMetric& metric : kCountMetrics) {
    double sum = 0;
    for (const trace::OpcodeInfo& op : trace::all_opcodes()) {
      if (metric.counts(op)) {
        sum += static_cast<double>(counts.issued_by_opcode[static_cast<std::size_t>(op.opcode)]);
      }
    }
    result.metrics[std::string(metric.name)] = sum;
  }
  const double sms = config.gpu.sm_count;
  const double active = static_cast<double>(counts.sm_active_cycles);
  const auto load_wavefronts = static_cast<double>(counts.counters.shared_load_wavefronts);
  const auto store_wavefronts = static_cast<double>(counts.counters.shared_store_wavefronts);
  std::uint64_t warp_cycles = 0;
  for (const std::uint64_t cycles : counts.counters.stall_warp_cycles) {
    warp_cycles += cycles;
  }
  result.metrics["sm__cycles_elapsed.max"] = static_cast<double>(counts.cycles);
  result.metrics["sm__cycles_active.avg"] = active / sms;
  result.metrics["sm__warps_active.avg.per_cycle_active"] =
      active > 0 ? static_cast<double>(warp_cycles) / active : 0;
  result.metrics["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"] = load_wavefronts;
  result.metrics["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"] = store_wavefronts;
  result.metrics["l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"] = load_wavefronts + store_wavefronts;
  const double sub_core_cycles = active * config.sm.sub_cores;
  const auto percent = [&](double busy, double of) { return of > 0 ? 100 * busy / of : 0; };
  result.metrics["smsp__issue_active.avg.pct_of_peak_sustained_active"] =
      percent(static_cast<double>(counts.instructions), sub_core_cycles);
  for (const auto& [pipe, name] : kBusyMetrics) {
    const std::int64_t busy = counts.counters.pipe_busy_cycles[static_cast<std::size_t>(pipe)];
    result.metrics[name] = percent(static_cast<double>(busy), sub_core_cycles);
  }
  result.metrics["l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_active"] =
      percent(static_cast<double>(counts.counters.data_path_cycles), active);
  result.metrics["launch__grid_size"] = static_cast<double>(trace::cta_count(launch));
  result.metrics["launch__block_size"] = launch.threads_per_cta;
  result.metrics["launch__registers_per_thread"] = launch.registers_per_thread;
  result.metrics["launch__shared_mem_per_block_dynamic"] = launch.shared_bytes_per_cta;
  result.metrics["launch__occupancy_limit_registers"] = counts.occupancy.limit_registers;
  result.metrics["launch__occupancy_limit_shared_mem"] = counts.occupancy.limit_shared_memory;
  result.metrics["launch__occupancy_limit_warps"] = counts.occupancy.limit_warps;
  result.metrics["launch__occupancy_limit_blocks"] = counts.occupancy.limit_ctas;
  result.metrics["launch__waves_per_multiprocessor"] =
      static_cast<double>(trace::cta_count(launch)) / (sms * counts.occupancy.ctas_per_sm);
  add_stalls(result, counts.counters, counts.instructions);
  add_traffic(result, trace, counts);
  return result;
}

double launch_gap_us(const hw::HwConfig& config) {
  // The measured overhead of a launch behind another contains the boundary that each launch counts already.
  const double boundary_us = config.launch.boundary_cycles / static_cast<double>(config.clock.max_mhz);
  return std::max(0.0, config.launch.overhead_us - boundary_us);
}

}  // namespace warpscope::gpu

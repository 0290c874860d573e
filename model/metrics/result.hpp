// What a simulation counted. Plain data: filled by the model, read by reports, tests and exports.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace warpscope::metrics {

/// Why a resident warp did not issue in a cycle, under Nsight Compute's names. `selected` is the cycle it
/// did.
enum class Stall : std::uint8_t {
  selected,
  wait,
  long_scoreboard,
  short_scoreboard,
  barrier,
  math_pipe_throttle,
  mio_throttle,
  lg_throttle,
  dispatch_stall,
  not_selected,
  no_instruction,
  imc_miss,
  branch_resolving,
  drain,
  count
};
inline constexpr std::size_t kStallReasons = static_cast<std::size_t>(Stall::count);
const char* name(Stall stall);
/// Nsight Compute's metric of the reason: warps that wait for it, per issued instruction.
std::string metric(Stall stall);

/// Bytes of one tensor that crossed a level of the memory system during a launch.
struct TensorTraffic {
  std::string tensor;
  std::uint64_t l2_read_bytes = 0;      ///< requested from L2 by SMs
  std::uint64_t l2_read_hit_bytes = 0;  ///< of these, found in L2
  std::uint64_t l2_write_bytes = 0;
  std::uint64_t dram_read_bytes = 0;
  std::uint64_t dram_write_bytes = 0;
};

struct Occupancy {
  int ctas_per_sm = 0;
  int limit_registers = 0;
  int limit_shared_memory = 0;
  int limit_warps = 0;
  int limit_ctas = 0;
};

/// At the voltage of the highest clock.
struct Energy {
  double core_j = 0;  ///< of the GPU, changes with the square of the voltage
  double hbm_j = 0;
};

struct LaunchResult {
  std::string name;
  std::array<std::uint32_t, 3> grid{};
  std::uint32_t threads_per_cta = 0;
  std::int64_t cycles = 0;  ///< first CTA dispatched to last byte accepted
  double time_us = 0;       ///< cycles at sm_clock_mhz, launch overhead not included
  double sm_clock_mhz = 0;
  Energy energy;  ///< 0 where the GPU's energies are not known
  Occupancy occupancy;
  std::map<std::string, double> metrics;  ///< Nsight Compute names; see metrics.cpp
  std::array<std::uint64_t, kStallReasons>
      stall_warp_cycles{};             ///< sum over warps; adds up to warp residence
  std::vector<TensorTraffic> traffic;  ///< by tensor of the trace
  std::uint64_t code_bytes = 0;        ///< read from HBM besides: instructions
  std::uint64_t earlier_bytes = 0;     ///< written to HBM besides: dirty in the L2 before the launch
};

struct SimulationResult {
  std::vector<LaunchResult> launches;
  std::int64_t cycles = 0;  ///< sum over launches
  double time_us = 0;       ///< sum, launch overhead between launches included
  /// Mean of the board where all is repeated back to back for seconds; 0 where its limit is not known.
  double power_w = 0;
  bool is_power_limited = false;  ///< clocks are below the configured ones, so that power keeps its limit
  /// That the kernels executed: counted in detailed mode, in fast mode those of the text of the trace.
  std::uint64_t warp_instructions_total = 0;
  std::uint64_t warp_instructions_executed = 0;  ///< of these, stepped one by one by the model in this run
  double cycles_deviation = 0;  ///< standard deviation of `cycles`, as far as a sample was run
};

}  // namespace warpscope::metrics

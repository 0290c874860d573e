#include "model/gpu/power.hpp"

#include <algorithm>
#include <array>

#include "model/gpu/launch_metrics.hpp"
#include "model/trace/opcode.hpp"

namespace warpscope::gpu {
namespace {

using trace::OpClass;
using trace::Opcode;

struct ClassEnergy {
  OpClass op_class;
  double hw::Energy::*picojoules;
};

/// Control flow, the uniform datapath and the issue of global accesses were not measured; they are few.
constexpr std::array kByClass = {
    ClassEnergy{OpClass::hmma_16816, &hw::Energy::hmma_16816_pj},
    ClassEnergy{OpClass::hmma_1688, &hw::Energy::hmma_1688_pj},
    ClassEnergy{OpClass::fma, &hw::Energy::fmul_pj},
    ClassEnergy{OpClass::imad, &hw::Energy::imad_pj},
    ClassEnergy{OpClass::alu, &hw::Energy::alu_pj},
    ClassEnergy{OpClass::xu, &hw::Energy::xu_pj},
    ClassEnergy{OpClass::shuffle, &hw::Energy::shuffle_pj},
    ClassEnergy{OpClass::shared_load, &hw::Energy::shared_load_pj},
    ClassEnergy{OpClass::shared_store, &hw::Energy::shared_store_pj},
    ClassEnergy{OpClass::shared_atomic, &hw::Energy::shared_store_pj},
    ClassEnergy{OpClass::global_reduce, &hw::Energy::reduce_pj},
};

/// Opcodes that differ from their class, or move several wavefronts.
struct OpcodeEnergy {
  Opcode opcode;
  double hw::Energy::*picojoules;
  double times;
};

constexpr std::array kByOpcode = {
    OpcodeEnergy{Opcode::FFMA, &hw::Energy::ffma_pj, 1},
    OpcodeEnergy{Opcode::HFMA2, &hw::Energy::ffma_pj, 1},
    OpcodeEnergy{Opcode::LDL, &hw::Energy::local_wavefront_pj, 1},
    OpcodeEnergy{Opcode::LDL_64, &hw::Energy::local_wavefront_pj, 2},
    OpcodeEnergy{Opcode::LDL_128, &hw::Energy::local_wavefront_pj, 4},
    OpcodeEnergy{Opcode::STL, &hw::Energy::local_wavefront_pj, 1},
    OpcodeEnergy{Opcode::STL_64, &hw::Energy::local_wavefront_pj, 2},
    OpcodeEnergy{Opcode::STL_128, &hw::Energy::local_wavefront_pj, 4},
};

constexpr double kJoulesPerPicojoule = 1e-12;
constexpr double kWattsPerJouleAndMicrosecond = 1e6;

double opcode_pj(const hw::Energy& energy, const trace::OpcodeInfo& op) {
  if (op.op_class == OpClass::wgmma) {
    return energy.wgmma_pj_per_flop * static_cast<double>(op.flops);
  }
  const auto* const own = std::ranges::find(kByOpcode, op.opcode, &OpcodeEnergy::opcode);
  if (own != kByOpcode.end()) {
    return energy.*own->picojoules * own->times;
  }
  const auto* const of_class = std::ranges::find(kByClass, op.op_class, &ClassEnergy::op_class);
  return of_class != kByClass.end() ? energy.*of_class->picojoules : 0;
}

/// All launches one after another, again and again, with clocks at `share` of the configured ones.
struct Repetition {
  double microseconds = 0;  ///< of one pass, gaps between launches and between passes included
  double watts = 0;
};

Repetition repeat(const hw::HwConfig& config, const metrics::SimulationResult& result, double share) {
  Repetition pass;
  double joules = 0;
  const double volts = relative_voltage(config.power, share);
  for (const metrics::LaunchResult& launch : result.launches) {
    pass.microseconds += launch.time_us / share + launch_gap_us(config);
    joules += launch.energy.core_j * volts * volts + launch.energy.hbm_j;
  }
  pass.watts = config.power.static_w + joules / pass.microseconds * kWattsPerJouleAndMicrosecond;
  return pass;
}

/// The largest share of the clocks with which the power is at most at its limit.
double clock_share(const hw::HwConfig& config, const metrics::SimulationResult& result) {
  constexpr double kLowest = 0.1;
  constexpr int kHalvings = 40;
  const auto is_within = [&](double share) {
    return repeat(config, result, share).watts <= config.power.limit_w;
  };
  if (is_within(1)) {
    return 1;
  }
  double within = kLowest;
  double beyond = 1;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (within + beyond) / 2;
    (is_within(middle) ? within : beyond) = middle;
  }
  return within;
}

}  // namespace

metrics::Energy launch_energy(const hw::Energy& energy, const LaunchCounts& counts) {
  double core_pj =
      static_cast<double>(counts.counters.shared_load_wavefronts) * energy.shared_load_wavefront_pj +
      static_cast<double>(counts.counters.shared_store_wavefronts) * energy.shared_store_wavefront_pj;
  for (const trace::OpcodeInfo& op : trace::all_opcodes()) {
    const std::uint64_t issued = counts.issued_by_opcode[static_cast<std::size_t>(op.opcode)];
    core_pj += static_cast<double>(issued) * opcode_pj(energy, op);
  }
  double hbm_pj = 0;
  for (const metrics::MovedBytes& moved : counts.tensors) {
    core_pj += static_cast<double>(moved.l2_read) * energy.l2_read_pj_per_byte +
               static_cast<double>(moved.l2_write) * energy.l2_write_pj_per_byte;
    hbm_pj += static_cast<double>(moved.hbm_read) * energy.hbm_read_pj_per_byte +
              static_cast<double>(moved.hbm_write) * energy.hbm_write_pj_per_byte;
  }
  return {.core_j = core_pj * kJoulesPerPicojoule, .hbm_j = hbm_pj * kJoulesPerPicojoule};
}

double relative_voltage(const hw::Power& power, double share) {
  const double room = 1 - power.voltage_floor;
  if (room <= 0 || power.voltage_slope <= 0) {
    return 1;
  }
  const double vertex = 2 * room / power.voltage_slope;  // below the highest clock, where the slope is 0
  const double left = std::max(0.0, 1 - (1 - share) / vertex);
  return power.voltage_floor + room * left * left;
}

void settle_clock(const hw::HwConfig& config, metrics::SimulationResult& result) {
  if (config.power.limit_w <= 0 || result.launches.empty()) {
    return;
  }
  const double share = clock_share(config, result);
  result.power_w = repeat(config, result, share).watts;
  result.is_power_limited = share < 1;
  if (!result.is_power_limited) {
    return;
  }
  result.time_us = launch_gap_us(config) * static_cast<double>(result.launches.size() - 1);
  for (metrics::LaunchResult& launch : result.launches) {
    launch.sm_clock_mhz *= share;
    launch.time_us = static_cast<double>(launch.cycles) / launch.sm_clock_mhz;
    result.time_us += launch.time_us;
  }
}

}  // namespace warpscope::gpu

// Every key of a GPU description at its lowest and its highest legal value: the model must hold them all.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <filesystem>
#include <limits>

#include "kernels/kernel.hpp"
#include "model/gpu/simulate.hpp"
#include "model/hw/config_loader.hpp"
#include "model/hw/config_schema.hpp"
#include "tests/support/gpu_limits.hpp"
#include "tests/support/random_program.hpp"

namespace warpscope::test {
namespace {

const std::filesystem::path kFolder = std::filesystem::path(WARPSCOPE_SOURCE_DIR) / "hwconfigs";

/// What else has to change so that `key` may have its extreme value.
std::vector<std::string> companions(std::string_view key, bool lowest) {
  struct Companions {
    std::string_view key;
    bool lowest;
    std::vector<std::string> settings;
  };
  static const std::vector<Companions> table = {
      {"clock.max_mhz", true, {"clock.tensor_mhz=100"}},
      {"clock.tensor_mhz", false, {"clock.max_mhz=10000"}},
      {"sm.sub_cores", true, {"sm.max_warps=16", "sm.max_threads_per_cta=512"}},
      {"sm.max_warps", true, {"sm.sub_cores=1", "sm.max_threads_per_cta=32"}},
      {"sm.registers", true, {"sm.register_allocation_unit=1"}},
      {"sm.icache.l1_bytes", true, {"sm.icache.l1_bytes=32768"}},
      {"sm.icache.l1_line_cycles",
       false,
       {"sm.icache.l1_fill_cycles=10000", "sm.icache.l2_fill_cycles=10000",
        "sm.icache.memory_fill_cycles=10000"}},
      {"sm.icache.l1_fill_cycles", true, {"sm.icache.l1_line_cycles=0"}},
      {"sm.icache.l1_fill_cycles",
       false,
       {"sm.icache.l2_fill_cycles=10000", "sm.icache.memory_fill_cycles=10000"}},
      {"sm.icache.l2_fill_cycles", true, {"sm.icache.l1_fill_cycles=0", "sm.icache.l1_line_cycles=0"}},
      {"sm.icache.l2_fill_cycles", false, {"sm.icache.memory_fill_cycles=10000"}},
      {"sm.icache.memory_fill_cycles",
       true,
       {"sm.icache.l2_fill_cycles=0", "sm.icache.l1_fill_cycles=0", "sm.icache.l1_line_cycles=0"}},
      {"sm.icache.line_bytes", true, {"sm.icache.l0_bytes=4096"}},
      {"sm.tensor.hmma_16816.interval_cycles", true, {"sm.tensor.hmma_16816.read_cycles=1"}},
      {"sm.tensor.hmma_1688.interval_cycles", true, {"sm.tensor.hmma_1688.read_cycles=1"}},
      {"sm.shared.bytes_per_cta", false, {"sm.shared.bytes=16777216", "sm.shared.reserved_bytes_per_cta=0"}},
      {"sm.shared.reserved_bytes_per_cta", false, {"sm.shared.bytes=16777216"}},
      {"sm.shared.allocation_bytes", false, {"sm.shared.bytes=262144"}},
      {"sm.shared.bytes_per_clk", true, {"sm.shared.sub_core_bytes_per_clk=1"}},
      {"sm.shared.sub_core_bytes_per_clk", false, {"sm.shared.bytes_per_clk=4096"}},
      {"sm.global.reduce_interval_cycles", false, {"sm.global.reduce_sustained_cycles=1000"}},
      {"sm.global.reduce_sustained_cycles", true, {"sm.global.reduce_interval_cycles=1"}},
      {"sm.global.reduce_buffer_entries", true, {"sm.global.reduce_whole_entries=1"}},
      {"sm.global.reduce_whole_entries", false, {"sm.global.reduce_buffer_entries=100000"}},
      {"l2.bytes_per_clk", true, {"l2.sm_bytes_per_clk=1"}},
      {"l2.sm_bytes_per_clk", false, {"l2.bytes_per_clk=10000"}},
  };
  for (const Companions& row : table) {
    if (row.key == key && row.lowest == lowest) {
      return row.settings;
    }
  }
  return {};
}

/// The value next to the extreme one that other keys allow; empty where the extreme itself is legal.
std::string allowed_instead(std::string_view key, bool lowest) {
  if (key == "sm.max_threads_per_cta" && !lowest) {
    return "2048";  // 32 for each of at most 64 warps
  }
  if (key == "sm.icache.l0_bytes") {
    return lowest ? "1024" : "131072";  // 8 to 1024 lines
  }
  if (key == "sm.icache.l1_bytes" && lowest) {
    return "32768";  // the L0
  }
  if (key == "sm.shared.bytes" && lowest) {
    return "167936";  // what a CTA may have
  }
  return {};
}

std::vector<trace::Trace> traces() {
  using enum trace::Opcode;
  std::vector<trace::Trace> result;
  for (const bool controlled : {true, false}) {
    RandomProgram random(7);
    result.push_back(
        {random_program_tensors(), {one_program(random.make(90, false, controlled), 1, 300, {6, 3})}});
  }
  for (const std::string_view kernel : {"fa2", "standard"}) {
    result.push_back(kernels::find_kernel(kernel).build({1, 1, 1, 256, 256, 64, true}, tests::kA100));
  }
  return result;
}

/// Nothing is in use for less than nothing, or for more than all of the time.
void expect_shares(const metrics::SimulationResult& result) {
  for (const metrics::LaunchResult& launch : result.launches) {
    for (const auto& [name, value] : launch.metrics) {
      if (name.ends_with("pct_of_peak_sustained_active")) {
        EXPECT_GE(value, 0) << name;
        EXPECT_LE(value, 100) << name;
      }
    }
  }
}

class ConfigExtremes : public testing::TestWithParam<bool> {};

TEST_P(ConfigExtremes, EveryKeyRunsOrRefusesTheLaunch) {
  const bool lowest = GetParam();
  const std::vector<trace::Trace> all = traces();
  int refused = 0;
  for (const hw::KeySpec& spec : hw::key_specs()) {
    hw::HwConfig scratch;
    const hw::Field field = spec.field(scratch);
    if (std::holds_alternative<std::string*>(field)) {
      continue;
    }
    SCOPED_TRACE(spec.key);
    const double extreme = lowest ? spec.min : spec.max;
    const std::string instead = allowed_instead(spec.key, lowest);
    std::vector<std::string> settings = companions(spec.key, lowest);
    settings.push_back(fmt::format("{}={}", spec.key,
                                   !instead.empty() ? instead
                                   : std::holds_alternative<double*>(field)
                                       ? fmt::format("{}", extreme)
                                       : fmt::format("{:.0f}", extreme)));
    hw::HwConfig config;
    ASSERT_NO_THROW(config = hw::load("a100-sxm4-80gb", settings, kFolder).config) << settings.back();
    for (const trace::Trace& trace : all) {
      try {
        const metrics::SimulationResult result = gpu::simulate(config, trace);
        EXPECT_GT(result.cycles, 0);
        EXPECT_LT(result.cycles, 1'000'000'000);
        EXPECT_GT(result.time_us, 0);
        expect_shares(result);
      } catch (const std::invalid_argument&) {
        ++refused;  // a launch that does not fit an SM with so little of something
      }
    }
  }
  // Too few registers, threads or warps, too little shared memory; or too coarse pieces of registers.
  EXPECT_LE(refused, lowest ? 25 : 4);
}

INSTANTIATE_TEST_SUITE_P(All, ConfigExtremes, testing::Bool(),
                         [](const auto& instance) { return instance.param ? "Lowest" : "Highest"; });

}  // namespace
}  // namespace warpscope::test

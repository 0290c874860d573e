// Every key of a GPU description acts: another legal value changes some number of some result.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "experiments/point/point.hpp"
#include "experiments/point/run.hpp"
#include "kernels/kernel.hpp"
#include "kernels/unsupported.hpp"
#include "model/gpu/simulate.hpp"
#include "model/hw/config_loader.hpp"
#include "model/hw/config_schema.hpp"
#include "tests/support/async_traces.hpp"
#include "tests/support/unit_traces.hpp"

namespace warpscope::test {
namespace {

struct Exception {
  std::string_view key;
  std::string_view why;
};
constexpr std::array kActOnNothing = {Exception{"gpu.name", "is printed and nothing else"}};
constexpr std::array kActOnKernels = {
    Exception{"gpu.compute_capability", "decides how kernels are compiled"},
    Exception{"gpu.memory_bytes", "refuses problems that do not fit, before anything runs"},
};
/// A chip so small that a launch of a few CTAs fills it, its caches and its memory.
hw::HwConfig small_gpu(const std::vector<std::string>& changes) {
  std::vector<std::string> settings = {"gpu.sm_count=4", "sm.max_warps=32", "sm.icache.l0_bytes=16384",
                                       "sm.icache.l1_bytes=32768", "l2.capacity_bytes=262144",
                                       "l2.dirty_bytes=65536", "l2.slices=4", "l2.bytes_per_clk=128",
                                       "hbm.peak_gb_per_s=80",
                                       // So little that every launch is at the limit.
                                       "power.static_w=0.5", "power.limit_w=1"};
  settings.insert(settings.end(), changes.begin(), changes.end());
  return hw::load("h100-sxm5-80gb", settings, experiments::config_directory()).config;
}

trace::Trace kernel(std::string_view name, const hw::HwConfig& config) {
  return kernels::find_kernel(name).build({1, 2, 2, 256, 256, 64, true}, experiments::limits_of(config));
}

std::vector<trace::Trace> traces(const hw::HwConfig& config) {
  return {everything(),       long_code(),          kernel("fa2", config), kernel("fa1", config),
          stream(0, 1 << 17), stream(400, 1 << 16), asynchronous_units(),  code_of_each_warp()};
}

/// All numbers of a result; none where the launch is refused.
std::vector<double> numbers(const hw::HwConfig& config, const trace::Trace& trace) {
  std::vector<double> all;
  try {
    const metrics::SimulationResult result = gpu::simulate(config, trace);
    all = {static_cast<double>(result.cycles), result.time_us, result.power_w};
    for (const metrics::LaunchResult& launch : result.launches) {
      for (const auto& [name, value] : launch.metrics) {
        all.push_back(value);
      }
      for (const metrics::TensorTraffic& traffic : launch.traffic) {
        all.push_back(static_cast<double>(traffic.dram_read_bytes));
        all.push_back(static_cast<double>(traffic.dram_write_bytes));
      }
    }
  } catch (const std::invalid_argument&) {
    all.clear();
  }
  return all;
}

/// Values to try instead of the one that a key has, the likeliest first.
std::vector<std::string> other_values(const hw::KeySpec& spec, const hw::HwConfig& config) {
  const std::string now = hw::value_text(spec, config);
  std::vector<std::string> values;
  hw::HwConfig scratch;
  const hw::Field field = spec.field(scratch);
  if (std::holds_alternative<std::string*>(field)) {
    values = {"8.0", "9.0"};
  } else {
    const double value = std::stod(now);
    const bool fraction = std::holds_alternative<double*>(field);
    for (const double other : {2 * value, value / 2, spec.min, spec.max}) {
      const double inside = std::clamp(fraction ? other : std::floor(other), spec.min, spec.max);
      values.push_back(fraction ? fmt::format("{}", inside) : fmt::format("{:.0f}", inside));
    }
  }
  std::erase(values, now);
  return values;
}

/// The numbers of each trace on a stock chip and on others.
class EveryKey : public testing::Test {
 protected:
  EveryKey() {
    for (const trace::Trace& trace : traces_) {
      stock_.push_back(numbers(config_, trace));
    }
  }

  /// Whether `change` is legal and changes a number of the same programs.
  bool acts(const std::string& change) const {
    hw::HwConfig config;
    try {
      config = small_gpu({change});
    } catch (const hw::ConfigError&) {
      return false;
    }
    for (std::size_t i = 0; i < traces_.size(); ++i) {
      if (numbers(config, traces_[i]) != stock_[i]) {
        return true;
      }
    }
    return false;
  }
  /// Whether it changes a kernel, or has it refused.
  static bool acts_on_kernels(const std::string& change) {
    try {
      return kernel("fa2", small_gpu({change})) != kernel("fa2", small_gpu({}));
    } catch (const kernels::UnsupportedProblem&) {
      return true;
    }
  }

  const hw::HwConfig config_ = small_gpu({});
  const std::vector<trace::Trace> traces_ = traces(config_);
  std::vector<std::vector<double>> stock_;
};

bool is_listed(std::span<const Exception> list, std::string_view key) {
  return std::ranges::find(list, key, &Exception::key) != list.end();
}

TEST_F(EveryKey, ChangesSomeResult) {
  EXPECT_TRUE(std::ranges::none_of(stock_, &std::vector<double>::empty)) << "a launch is refused";
  for (const hw::KeySpec& spec : hw::key_specs()) {
    if (is_listed(kActOnNothing, spec.key)) {
      continue;
    }
    const std::vector<std::string> values = other_values(spec, config_);
    const auto changes = [&](const std::string& value) {
      const std::string change = fmt::format("{}={}", spec.key, value);
      return is_listed(kActOnKernels, spec.key) ? acts_on_kernels(change) : acts(change);
    };
    EXPECT_TRUE(std::ranges::any_of(values, changes))
        << spec.key << " acts on nothing; tried " << fmt::format("{}", fmt::join(values, ", "));
  }
}

TEST_F(EveryKey, ExceptionsAreKeysThatTheModelDoesNotRead) {
  for (const std::span<const Exception> list :
       {std::span<const Exception>(kActOnNothing), std::span<const Exception>(kActOnKernels)}) {
    for (const auto& [key, why] : list) {
      const hw::KeySpec* spec = hw::find_key(key);
      ASSERT_NE(spec, nullptr) << key;
      for (const std::string& value : other_values(*spec, config_)) {
        EXPECT_FALSE(acts(fmt::format("{}={}", key, value)))
            << key << " acts, yet it is said that it " << why;
      }
    }
  }
}

}  // namespace
}  // namespace warpscope::test

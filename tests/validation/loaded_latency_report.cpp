// Prints measured and simulated latency and bandwidth for the loop of loaded_latency.md.
// Arguments: the beginning of the names to run; settings KEY=VALUE; pauses as numbers.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <map>
#include <vector>

#include "model/hw/config_loader.hpp"
#include "tests/validation/loaded_latency.hpp"

extern "C" int sc_main(int /*argc*/, char** /*argv*/) {
  return EXIT_FAILURE;
}

namespace {

/// Mean and worst of the size of relative differences.
struct Differences {
  double sum = 0;
  double worst = 0;
  int count = 0;
  void add(double difference) {
    sum += std::abs(difference);
    worst = std::max(worst, std::abs(difference));
    ++count;
  }
};

}  // namespace

int main(int argc, char** argv) {
  using namespace warpscope;
  try {
    std::string filter;
    std::vector<std::string> settings;
    std::vector<int> delays;
    for (int i = 1; i < argc; ++i) {
      const std::string word = argv[i];
      if (word.find('=') != std::string::npos) {
        settings.push_back(word);
      } else if (word.find_first_not_of("0123456789") == std::string::npos) {
        delays.push_back(std::stoi(word));
      } else {
        filter = word;
      }
    }
    if (delays.empty()) {
      delays = {0, 750, 2000, 7000};
    }
    const std::string source = WARPSCOPE_SOURCE_DIR;
    const hw::HwConfig config = hw::load("h200-sxm-141gb", settings, source + "/hwconfigs").config;
    std::map<std::string, Differences> differences;
    fmt::print("{:40} {:>17} {:>8} {:>17} {:>8}\n", "", "latency, cycles", "", "bytes/clk", "");
    const std::string measured = source + "/experiments/reference/measured-h200/";
    std::vector<validation::LoadedLatencyRow> rows =
        validation::load_loaded_latency(measured + "loaded_latency.csv", delays);
    std::ranges::copy(validation::load_l2_loops(measured + "l2_loops.csv", delays), std::back_inserter(rows));
    for (const validation::LoadedLatencyRow& row : rows) {
      if (!row.name.starts_with(filter)) {
        continue;
      }
      const validation::LoopTimes times = validation::run_memory_loop(config, row.loop);
      const char* half = row.chosen_on ? "chosen on" : "judged on";
      const double rate = row.moved_bytes_per_cycle * row.measured_period_cycles / times.period_cycles;
      const double rate_difference = row.measured_period_cycles / times.period_cycles - 1;
      const std::string kind = row.name.substr(0, row.name.find('/'));
      differences[kind + " rate, " + half].add(rate_difference);
      fmt::print("{:40}", row.name);
      if (row.measured_latency_cycles > 0) {
        const double difference = times.latency_cycles / row.measured_latency_cycles - 1;
        differences[kind + " latency, " + half].add(difference);
        fmt::print(" {:8.0f} {:8.0f} {:+6.1f} %", row.measured_latency_cycles, times.latency_cycles,
                   100 * difference);
      } else {
        fmt::print(" {:26}", "");
      }
      fmt::print(" {:8.0f} {:8.0f} {:+6.1f} %\n", row.moved_bytes_per_cycle, rate, 100 * rate_difference);
      std::fflush(stdout);
    }
    for (const auto& [name, all] : differences) {
      fmt::print("{:40} rows {:3}  mean {:5.1f} %  worst {:5.1f} %\n", name, all.count,
                 100 * all.sum / all.count, 100 * all.worst);
    }
  } catch (const std::exception& error) {
    std::cerr << "loaded_latency_report: " << error.what() << '\n';
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}

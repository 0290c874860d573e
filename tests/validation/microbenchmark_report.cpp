// Prints model and measurement side by side for every microbenchmark: id, measured, model, difference.
// Arguments: the beginning of the ids to run, and `detailed` to step every instruction.
#include <fmt/format.h>

#include <cstdlib>
#include <iostream>

#include "model/gpu/simulate.hpp"
#include "model/hw/config_loader.hpp"
#include "tests/validation/microbenchmarks.hpp"

extern "C" int sc_main(int /*argc*/, char** /*argv*/) {
  return EXIT_FAILURE;
}

int main(int argc, char** argv) {
  using namespace warpscope;
  try {
    const std::string filter = argc > 1 ? argv[1] : "";
    const std::string source = WARPSCOPE_SOURCE_DIR;
    hw::HwConfig config = hw::load("h200-sxm-141gb", {}, source + "/hwconfigs").config;
    config.launch.boundary_cycles = 0;  // the hardware was timed by the clock inside the kernel
    for (const validation::MeasuredRow& row :
         validation::load_measured_rows(source + "/tests/validation/data/microbenchmarks_h200.csv")) {
      if (!row.id().starts_with(filter)) {
        continue;
      }
      const validation::Microbenchmark benchmark = validation::make_microbenchmark(row);
      trace::validate(benchmark.trace);
      gpu::SimulationOptions options;
      options.warm_l2 = benchmark.warm_l2;
      options.mode = argc > 2 && std::string(argv[2]) == "detailed" ? gpu::Mode::detailed : gpu::Mode::fast;
      std::vector<std::int64_t> cycles;
      for (const metrics::LaunchResult& launch : gpu::simulate(config, benchmark.trace, options).launches) {
        cycles.push_back(launch.cycles);
      }
      const double model = benchmark.evaluate(cycles);
      fmt::print("{:44} {:>12.3f} {:>12.3f} {:>+8.1f} %  {}\n", row.id(), row.measured, model,
                 100 * (model / row.measured - 1), row.unit);
    }
  } catch (const std::exception& error) {
    std::cerr << "microbenchmark_report: " << error.what() << '\n';
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}

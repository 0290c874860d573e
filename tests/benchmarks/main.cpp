// Runs the benchmarks. As in the program, this main wins over the one of the SystemC library, and the stub
// satisfies that one.
#include <benchmark/benchmark.h>

#include <fstream>
#include <string>

#include "experiments/store/model_version.hpp"

namespace {

/// "Intel(R) Xeon(R) ..."; empty where the system does not say.
std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line)) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) {
      return line.substr(colon + 2);
    }
  }
  return {};
}

}  // namespace

extern "C" int sc_main(int /*argc*/, char** /*argv*/) {
  return 0;
}

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
    return 2;
  }
  benchmark::AddCustomContext("processor", processor_name());
  benchmark::AddCustomContext("compiler", "GCC " __VERSION__);
  benchmark::AddCustomContext("model", warpscope::experiments::model_version());
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}

#include "experiments/commands/sweep_flags.hpp"

#include <fmt/format.h>

#include "experiments/base/output.hpp"
#include "experiments/commands/file_flag.hpp"

namespace warpscope::experiments {

void SweepFlags::add_to(CLI::App& verb) {
  add_file_flag(verb, "--points", points, "CSV file with the points")->required();
  add_file_flag(verb, "-o,--output", outputs.csv, "CSV file to write")->required();
  add_file_flag(verb, "--json", outputs.json,
                "write JSON with all metrics to FILE too; -: to standard output");
  model.add_to(verb);
}

Status report_failures(const SweepSummary& summary, const std::string& where) {
  if (summary.failed == 0) {
    return Status::done;
  }
  print_error(
      fmt::format("{} of {} points could not be simulated; {}", summary.failed, summary.points, where));
  return Status::points_failed;
}

}  // namespace warpscope::experiments

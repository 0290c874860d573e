#include "experiments/commands/sweep_flags.hpp"

#include <fmt/format.h>

#include <cstdio>

namespace warpscope::experiments {

void SweepFlags::add_to(CLI::App& verb) {
  verb.add_option("--points", points, "CSV file with the points")->type_name("FILE")->required();
  verb.add_option("-o,--output", outputs.csv, "CSV file to write")->type_name("FILE")->required();
  verb.add_option("--json", outputs.json, "write JSON with all metrics to FILE too; -: to standard output")
      ->type_name("FILE");
  model.add_to(verb);
}

Status report_failures(const SweepSummary& summary, const std::string& where) {
  if (summary.failed == 0) {
    return Status::done;
  }
  fmt::print(stderr, "warpscope: {} of {} points could not be simulated; {}\n", summary.failed,
             summary.points, where);
  return Status::points_failed;
}

}  // namespace warpscope::experiments

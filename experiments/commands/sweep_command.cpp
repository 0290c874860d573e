// `warpscope sweep`: every point of a CSV file.
#include <fmt/format.h>

#include <charconv>
#include <cstdio>
#include <memory>

#include "experiments/base/worker_pool.hpp"
#include "experiments/commands/command.hpp"
#include "experiments/commands/problem_flags.hpp"
#include "experiments/commands/worker_flag.hpp"
#include "experiments/sweep/sweep.hpp"

namespace warpscope::experiments {
namespace {

struct SweepFlags {
  ModelFlags model;
  SweepOptions options;
  std::string workers;
};

Status sweep_command(SweepFlags& flags) {
  flags.options.defaults = flags.model.read();
  flags.options.workers = read_workers(flags.workers);
  const SweepSummary summary = run_sweep(flags.options);
  if (summary.failed == 0) {
    return Status::done;
  }
  fmt::print(stderr, "warpscope: {} of {} points could not be simulated; column model_error of {} says why\n",
             summary.failed, summary.points, flags.options.output);
  return Status::points_failed;
}

}  // namespace

void add_sweep_command(CLI::App& app, Action& action) {
  CLI::App* verb = app.add_subcommand("sweep", "Run every point of a CSV file and add the model's columns");
  const auto flags = std::make_shared<SweepFlags>();
  verb->add_option("--points", flags->options.points, "CSV file with the points")
      ->type_name("FILE")
      ->required();
  verb->add_option("-o,--output", flags->options.output, "CSV file to write")->type_name("FILE")->required();
  add_workers_flag(*verb, flags->workers);
  verb->add_flag("--resume", flags->options.resume, "go on with an interrupted sweep to the same output");
  flags->model.add_to(*verb);
  verb->callback([flags, &action] { action = [flags] { return sweep_command(*flags); }; });
}

}  // namespace warpscope::experiments

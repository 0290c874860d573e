// `warpscope run`: one kernel, or one trace, on one GPU.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "experiments/base/files.hpp"
#include "experiments/base/usage_error.hpp"
#include "experiments/commands/command.hpp"
#include "experiments/commands/problem_flags.hpp"
#include "experiments/report/json_report.hpp"
#include "experiments/report/text_report.hpp"

namespace warpscope::experiments {
namespace {

struct RunFlags {
  ModelFlags model;
  ProblemFlags problem;
  std::string json;
  std::string trace;
  std::string timeline;
  std::string report;
  bool stats = false;
};

void print_stats(const Run& run, double wall_seconds) {
  const nlohmann::ordered_json stats = {{"mode", run.options.mode == gpu::Mode::fast ? "fast" : "detailed"},
                                        {"warp_instructions_total", run.result.warp_instructions_total},
                                        {"warp_instructions_executed", run.result.warp_instructions_executed},
                                        {"wall_s", wall_seconds},
                                        {"cycles_deviation", run.result.cycles_deviation}};
  fmt::print(stderr, "{}\n", stats.dump());
}

Run simulate(const RunFlags& flags) {
  flags.model.require_gpu();
  const ModelChoice model = flags.model.read();
  if (flags.trace.empty()) {
    return run_point(flags.problem.read(model));
  }
  if (const std::string given = flags.problem.first_given(); !given.empty()) {
    throw UsageError(given + " does not go with --trace, which says itself what runs");
  }
  return run_trace_file(model, flags.trace);
}

/// Files that are opened before the simulation, so that a bad path costs no time.
std::unique_ptr<PendingFile> open_if_named(const std::string& path) {
  return path.empty() || path == "-" ? nullptr : std::make_unique<PendingFile>(path);
}

Status run_command(const RunFlags& flags) {
  if (!flags.timeline.empty()) {
    throw UsageError("--timeline: timelines are not available yet");
  }
  const auto json_file = open_if_named(flags.json);
  const auto report_file = open_if_named(flags.report);
  const auto start = std::chrono::steady_clock::now();
  const Run run = simulate(flags);
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;

  const std::string report = text_report(run);
  const std::string json =
      to_json(run).dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n';
  if (json_file) {
    json_file->write(json);
    json_file->commit();
  }
  if (report_file) {
    report_file->write(report);
    report_file->commit();
  }
  fmt::print("{}", flags.json == "-" ? json : report);
  if (flags.stats) {
    print_stats(run, wall.count());
  }
  return Status::done;
}

}  // namespace

void add_run_command(CLI::App& app, Action& action) {
  CLI::App* verb = app.add_subcommand("run", "Run one kernel on one GPU and report where the time goes");
  const auto flags = std::make_shared<RunFlags>();
  flags->problem.add_to(*verb);
  flags->model.add_to(*verb);
  verb->add_option("--trace", flags->trace, "run a trace file instead of a kernel")->type_name("FILE");
  verb->add_option("--json", flags->json,
                   "write JSON to FILE too; -: to standard output, in place of the report")
      ->type_name("FILE");
  verb->add_option("--report", flags->report, "write the report to FILE too")->type_name("FILE");
  verb->add_option("--timeline", flags->timeline, "not available yet")->type_name("FILE");
  verb->add_flag("--stats", flags->stats, "one JSON line about the simulation itself on standard error");
  verb->callback([flags, &action] { action = [flags] { return run_command(*flags); }; });
}

}  // namespace warpscope::experiments

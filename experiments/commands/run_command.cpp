// `warpscope run`: one kernel, or one trace, on one GPU.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "experiments/base/files.hpp"
#include "experiments/base/named_files.hpp"
#include "experiments/base/output.hpp"
#include "experiments/base/usage_error.hpp"
#include "experiments/commands/command.hpp"
#include "experiments/commands/file_flag.hpp"
#include "experiments/commands/problem_flags.hpp"
#include "experiments/commands/run_page_file.hpp"
#include "experiments/commands/scan_flags.hpp"
#include "experiments/commands/timeline_flags.hpp"
#include "experiments/commands/vcd_flag.hpp"
#include "experiments/commands/worker_flags.hpp"
#include "experiments/report/json_report.hpp"
#include "experiments/report/text_report.hpp"
#include "experiments/whatif/why.hpp"
#include "experiments/workers/worker_pool.hpp"
#include "model/hw/config_loader.hpp"

namespace warpscope::experiments {
namespace {

struct RunFlags {
  ModelFlags model;
  ProblemFlags problem;
  std::string json;
  std::string trace;
  std::string report;
  TimelineFlags timeline;
  VcdFlag vcd;
  WorkerFlags workers;
  ScanFlags scan;
  bool stats = false;
  bool why = false;
};

void print_stats(const Run& run, double wall_seconds) {
  const nlohmann::ordered_json stats = {{"mode", run.options.mode == gpu::Mode::fast ? "fast" : "detailed"},
                                        {"warp_instructions_total", run.result.warp_instructions_total},
                                        {"warp_instructions_executed", run.result.warp_instructions_executed},
                                        {"wall_s", wall_seconds},
                                        {"cycles_deviation", run.result.cycles_deviation}};
  fmt::print(stderr, "{}\n", stats.dump());
}

Run simulate(const RunFlags& flags, const ModelChoice& model) {
  if (flags.trace.empty()) {
    return run_point(flags.problem.read(model));
  }
  if (const std::string given = flags.problem.first_given(); !given.empty()) {
    throw UsageError(given + " does not go with --trace, which says itself what runs");
  }
  return run_trace_file(model, flags.trace);
}

/// The same on all processors where it is in detailed mode, with its timeline and its signals written to
/// files. The timeline is kept in `extras`, too.
Run simulate_and_record(const RunFlags& flags, RunExtras& extras) {
  const ModelChoice asked = flags.model.read();
  ModelChoice model = asked;
  std::optional<metrics::TimelineRecorder> recorder;
  std::optional<VcdDraft> draft;
  if (!flags.timeline.file().empty()) {
    const hw::HwConfig config = hw::load(model.gpu, model.overrides, config_directory()).config;
    model.options.observer = &recorder.emplace(*flags.timeline.request(config));
  }
  if (!flags.vcd.file().empty()) {
    model.options.vcd_file = draft.emplace().file();
  }
  if (recorder || draft) {
    model.options.mode = gpu::Mode::detailed;
  }
  if (model.options.mode == gpu::Mode::detailed) {
    model.options.threads = flags.workers.read(default_workers()).processes;
  }
  Run run = simulate(flags, model);
  run.options = asked.options;
  run.options.mode = model.options.mode;
  if (run.point) {
    run.point->model = asked;
  }
  if (recorder) {
    extras.timeline = recorder->take();
    flags.timeline.write(*extras.timeline, run);
  }
  if (draft) {
    draft->write_to(flags.vcd.file());
    run.remarks.emplace_back("for its VCD file this was run in detailed mode.");
  }
  return run;
}

/// Refuses, before the simulation and before anything is opened, what could not be written behind it.
void check_outputs(const RunFlags& flags) {
  const std::array outputs = {NamedFile{"--json", flags.json}, NamedFile{"--report", flags.report},
                              NamedFile{"--timeline", flags.timeline.file()},
                              NamedFile{"--vcd", flags.vcd.file()}};
  std::vector<NamedFile> inputs = {{"--trace", flags.trace}};
  if (std::ranges::any_of(outputs, [](const NamedFile& output) { return names_file(output.path); })) {
    std::ranges::move(flags.model.files(), std::back_inserter(inputs));
  }
  check_apart(inputs, outputs);
  for (const NamedFile& output : outputs) {
    if (names_file(output.path)) {
      check_writable(output.path);
    }
  }
}

/// Refuses beside a scan what is about one run.
void check_single_flags(const RunFlags& flags, const ScanAxis& axis) {
  const std::array<std::pair<const char*, bool>, 6> of_one_run = {
      std::pair("--trace", !flags.trace.empty()),
      std::pair("--report with a page", names_page(flags.report)),
      std::pair("--why", flags.why),
      std::pair("--timeline", !flags.timeline.file().empty()),
      std::pair("--vcd", !flags.vcd.file().empty()),
      std::pair("--stats", flags.stats)};
  for (const auto& [flag, is_given] : of_one_run) {
    if (is_given) {
      throw UsageError(fmt::format("{} does not go with a scan of {}: it is about one run", flag, axis.name));
    }
  }
}

Status run_command(const RunFlags& flags) {
  if (std::vector<ScanAxis> axes = flags.scan.axes(flags.problem); !axes.empty()) {
    check_single_flags(flags, axes.front());
    return flags.scan.run(
        {std::move(axes), flags.model, flags.problem, flags.workers, flags.json, flags.report});
  }
  if (const std::string given = flags.scan.first_given(); !given.empty()) {
    throw UsageError(given + " goes with a scan only: --scan, or a flag with a list or a range");
  }
  flags.timeline.check();
  flags.vcd.check();
  if (flags.why && !flags.trace.empty()) {
    throw UsageError("--why does not go with --trace: it runs a kernel anew for each change of the GPU");
  }
  flags.model.require_gpu();
  check_outputs(flags);
  const auto start = std::chrono::steady_clock::now();
  RunExtras extras;
  const Run run = simulate_and_record(flags, extras);
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;

  std::string report = text_report(run);
  nlohmann::ordered_json document = to_json(run);
  if (flags.why) {
    extras.gains = gains(*run.point, flags.workers.read(default_workers()));
    report += '\n' + why_text(*extras.gains);
    document["why"] = why_json(*extras.gains);
  }
  const std::string json =
      document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n';
  if (names_file(flags.json)) {
    write_file(flags.json, json);
  }
  if (names_file(flags.report)) {
    write_file(flags.report, names_page(flags.report) ? run_page_file(run, std::move(extras),
                                                                      flags.workers.read(default_workers()))
                                                      : report);
  }
  print_output(flags.json == "-" ? json : report);
  if (flags.stats) {
    print_stats(run, wall.count());
  }
  return Status::done;
}

}  // namespace

void add_run_command(CLI::App& app, Action& action) {
  CLI::App* verb = app.add_subcommand("run", "Run one kernel on one GPU and report where the time goes");
  verb->footer(
      "Flags of the problem take lists, as --heads 1,2,4, and ranges, as --seqlen 512:16384:x2 and "
      "--seqlen 512:4096:+512: each combination is run once.");
  const auto flags = std::make_shared<RunFlags>();
  flags->problem.add_to(*verb);
  flags->model.add_to(*verb);
  add_file_flag(*verb, "--trace", flags->trace, "run a trace file instead of a kernel");
  add_file_flag(*verb, "--json", flags->json,
                "write JSON to FILE too; -: to standard output, in place of the report");
  add_file_flag(*verb, "--report", flags->report, "write the report to FILE too, to FILE.html as a page");
  flags->timeline.add_to(*verb);
  flags->vcd.add_to(*verb);
  verb->add_flag("--why", flags->why,
                 "run again with more of each resource in turn: what limits the kernel?");
  flags->workers.add_to(*verb, "points at a time, threads of --mode detailed\n(default: one per processor)");
  flags->scan.add_to(*verb);
  verb->add_flag("--stats", flags->stats, "one JSON line about the simulation itself on standard error");
  verb->callback([flags, &action] { action = [flags] { return run_command(*flags); }; });
}

}  // namespace warpscope::experiments

// `warpscope hotspots`: which operations and instructions of a kernel its warps spend their cycles at.
#include <array>
#include <memory>

#include "experiments/base/files.hpp"
#include "experiments/base/named_files.hpp"
#include "experiments/base/output.hpp"
#include "experiments/base/usage_error.hpp"
#include "experiments/commands/command.hpp"
#include "experiments/commands/file_flag.hpp"
#include "experiments/commands/problem_flags.hpp"
#include "experiments/report/hotspots.hpp"
#include "experiments/report/json_report.hpp"

namespace warpscope::experiments {
namespace {

struct HotspotsFlags {
  ModelFlags model;
  ProblemFlags problem;
  std::string trace;
  std::string json;
  bool instructions = false;
};

Run simulate(const HotspotsFlags& flags, metrics::Observer& observer) {
  ModelChoice model = flags.model.read();
  model.options.mode = gpu::Mode::detailed;
  model.options.observer = &observer;
  if (flags.trace.empty()) {
    return run_point(flags.problem.read(model));
  }
  if (const std::string given = flags.problem.first_given(); !given.empty()) {
    throw UsageError(given + " does not go with --trace, which says itself what runs");
  }
  return run_trace_file(model, flags.trace);
}

Status hotspots_command(const HotspotsFlags& flags) {
  flags.model.require_gpu();
  if (names_file(flags.json)) {
    std::vector<NamedFile> inputs = flags.model.files();
    inputs.push_back({"--trace", flags.trace});
    check_apart(inputs, std::array{NamedFile{"--json", flags.json}});
    check_writable(flags.json);
  }
  metrics::InstructionProfile profile;
  const Run run = simulate(flags, profile);
  nlohmann::ordered_json document = to_json(run);
  document["hotspots"] = hotspots_json(profile.launches());
  const std::string json =
      document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n';
  if (names_file(flags.json)) {
    write_file(flags.json, json);
  }
  print_output(flags.json == "-" ? json : hotspots_text(run, profile.launches(), flags.instructions));
  return Status::done;
}

}  // namespace

void add_hotspots_command(CLI::App& app, Action& action) {
  CLI::App* verb =
      app.add_subcommand("hotspots", "Show which operations and instructions take the cycles of a kernel");
  const auto flags = std::make_shared<HotspotsFlags>();
  flags->problem.add_to(*verb);
  flags->model.add_to(*verb);
  add_file_flag(*verb, "--trace", flags->trace, "run a trace file instead of a kernel");
  add_file_flag(*verb, "--json", flags->json, "write JSON to FILE too; -: to standard output");
  verb->add_flag("--instructions", flags->instructions, "also each instruction of the loops");
  verb->footer("Runs in detailed mode, whatever --mode says.");
  verb->callback([flags, &action] { action = [flags] { return hotspots_command(*flags); }; });
}

}  // namespace warpscope::experiments

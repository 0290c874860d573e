// `warpscope validate`: the accuracy table.
#include <memory>

#include "experiments/accuracy/accuracy.hpp"
#include "experiments/accuracy/stall_comparison.hpp"
#include "experiments/base/files.hpp"
#include "experiments/base/named_files.hpp"
#include "experiments/base/output.hpp"
#include "experiments/commands/command.hpp"
#include "experiments/commands/file_flag.hpp"
#include "experiments/commands/worker_flags.hpp"
#include "experiments/data/forward_reference.hpp"
#include "experiments/workers/worker_pool.hpp"

namespace warpscope::experiments {
namespace {

struct ValidateFlags {
  std::string json;
  bool stalls = false;
  WorkerFlags workers;
};

Status validate_command(const ValidateFlags& flags) {
  const PoolOptions workers = flags.workers.read(default_workers());
  const bool json_on_output = flags.json == "-";
  const bool json_in_file = names_file(flags.json);
  if (json_in_file) {
    check_writable(flags.json);
  }
  const std::vector<Observation> observations = all_observations(reference_directory());
  std::vector<Point> points;
  points.reserve(observations.size());
  for (const Observation& observation : observations) {
    points.push_back(observation.point);
  }
  const std::vector<Numbers> numbers = simulate_numbers(points, workers, "validate");
  const std::vector<AccuracyRow> rows = compare_numbers(observations, numbers);
  nlohmann::ordered_json json = accuracy_json(rows);
  std::string text = accuracy_table(rows);
  if (flags.stalls) {
    const std::vector<StallRow> stalls = compare_stalls(observations, numbers);
    json["stalls"] = stall_json(stalls);
    text += '\n' + stall_table(stalls);
  }
  const std::string json_text = json.dump(2) + '\n';
  if (json_in_file) {
    write_file(flags.json, json_text);
  }
  print_output(json_on_output ? json_text : text);
  return all_met(rows) ? Status::done : Status::check_failed;
}

}  // namespace

void add_validate_command(CLI::App& app, Action& action) {
  CLI::App* verb = app.add_subcommand("validate", "Compare the model with published and measured numbers");
  const auto flags = std::make_shared<ValidateFlags>();
  add_file_flag(*verb, "--json", flags->json,
                "write JSON to FILE too; -: to standard output, in place of the table");
  verb->add_flag("--stalls", flags->stalls, "also compare stall reasons with those of Nsight Compute");
  flags->workers.add_to(*verb);
  verb->callback([flags, &action] { action = [flags] { return validate_command(*flags); }; });
}

}  // namespace warpscope::experiments

// `warpscope validate`: the accuracy table.
#include <memory>

#include "experiments/accuracy/accuracy.hpp"
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
  WorkerFlags workers;
};

Status validate_command(const ValidateFlags& flags) {
  const PoolOptions workers = flags.workers.read(default_workers());
  const bool json_on_output = flags.json == "-";
  const bool json_in_file = names_file(flags.json);
  if (json_in_file) {
    check_writable(flags.json);
  }
  const std::vector<AccuracyRow> rows = measure_accuracy(all_observations(reference_directory()), workers);
  const std::string json = accuracy_json(rows).dump(2) + '\n';
  if (json_in_file) {
    write_file(flags.json, json);
  }
  print_output(json_on_output ? json : accuracy_table(rows));
  return all_met(rows) ? Status::done : Status::check_failed;
}

}  // namespace

void add_validate_command(CLI::App& app, Action& action) {
  CLI::App* verb = app.add_subcommand("validate", "Compare the model with published and measured numbers");
  const auto flags = std::make_shared<ValidateFlags>();
  add_file_flag(*verb, "--json", flags->json,
                "write JSON to FILE too; -: to standard output, in place of the table");
  flags->workers.add_to(*verb);
  verb->callback([flags, &action] { action = [flags] { return validate_command(*flags); }; });
}

}  // namespace warpscope::experiments

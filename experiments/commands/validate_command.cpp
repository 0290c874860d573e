// `warpscope validate`: the accuracy table.
#include <fmt/format.h>

#include <memory>

#include "experiments/accuracy/accuracy.hpp"
#include "experiments/base/files.hpp"
#include "experiments/commands/command.hpp"
#include "experiments/commands/worker_flag.hpp"
#include "experiments/data/forward_reference.hpp"

namespace warpscope::experiments {
namespace {

struct ValidateFlags {
  std::string json;
  std::string workers;
};

Status validate_command(const ValidateFlags& flags) {
  const int workers = read_workers(flags.workers);
  const bool json_on_output = flags.json == "-";
  const auto file =
      flags.json.empty() || json_on_output ? nullptr : std::make_unique<PendingFile>(flags.json);
  const std::vector<AccuracyRow> rows = measure_accuracy(all_observations(reference_directory()), workers);
  const std::string json = accuracy_json(rows).dump(2) + '\n';
  if (file) {
    file->write(json);
    file->commit();
  }
  fmt::print("{}", json_on_output ? json : accuracy_table(rows));
  return all_met(rows) ? Status::done : Status::check_failed;
}

}  // namespace

void add_validate_command(CLI::App& app, Action& action) {
  CLI::App* verb = app.add_subcommand("validate", "Compare the model with published and measured numbers");
  const auto flags = std::make_shared<ValidateFlags>();
  verb->add_option("--json", flags->json,
                   "write JSON to FILE too; -: to standard output, in place of the table")
      ->type_name("FILE");
  add_workers_flag(*verb, flags->workers);
  verb->callback([flags, &action] { action = [flags] { return validate_command(*flags); }; });
}

}  // namespace warpscope::experiments

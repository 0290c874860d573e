// `warpscope validate`: the accuracy table.
#include <memory>

#include "experiments/base/usage_error.hpp"
#include "experiments/commands/command.hpp"

namespace warpscope::experiments {

void add_validate_command(CLI::App& app, Action& action) {
  CLI::App* verb = app.add_subcommand("validate", "Compare the model with published and measured numbers");
  verb->callback([&action] { action = []() -> Status { throw UsageError("validate: not available yet"); }; });
}

}  // namespace warpscope::experiments

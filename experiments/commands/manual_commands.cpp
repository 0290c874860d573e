// `warpscope completion` and `warpscope man`: the command line for shells and for man.
#include <fmt/format.h>

#include "experiments/base/output.hpp"
#include "experiments/commands/command.hpp"
#include "experiments/commands/verb_text.hpp"

namespace warpscope::experiments {

void add_manual_commands(CLI::App& app, Action& action) {
  CLI::App* completion =
      app.add_subcommand("completion", "Print a script that lets a shell complete command lines");
  completion->require_subcommand(1);
  completion->footer(
      "For one session of bash: `eval \"$(warpscope completion bash)\"`. For zsh: write it to a file "
      "_warpscope "
      "in a folder of $fpath.");
  const auto add_shell = [&](const char* shell, std::string (*script)(const VerbText&)) {
    completion->add_subcommand(shell, fmt::format("Print the script for {}", shell))
        ->callback([script, &app, &action] {
          action = [script, &app] {
            print_output(script(verb_text(app)));
            return Status::done;
          };
        });
  };
  add_shell("bash", &bash_completion);
  add_shell("zsh", &zsh_completion);

  app.add_subcommand("man", "Print the manual page, for man")->callback([&app, &action] {
    action = [&app] {
      print_output(man_page(verb_text(app), WARPSCOPE_VERSION));
      return Status::done;
    };
  });
}

}  // namespace warpscope::experiments

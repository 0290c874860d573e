// One verb of the command line.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace warpscope::experiments {

/// Exit statuses of the program.
enum class Status : int { done = 0, check_failed = 1, usage = 2, points_failed = 3 };

/// What to do once the command line has been read.
using Action = std::function<Status()>;

/// Each adds its verb to `app`; when the verb is chosen, `action` becomes what to do.
void add_run_command(CLI::App& app, Action& action);
void add_compare_command(CLI::App& app, Action& action);
void add_hotspots_command(CLI::App& app, Action& action);
void add_sweep_command(CLI::App& app, Action& action);
void add_merge_command(CLI::App& app, Action& action);
void add_study_command(CLI::App& app, Action& action);
void add_plot_command(CLI::App& app, Action& action);
void add_check_numbers_command(CLI::App& app, Action& action);
void add_validate_command(CLI::App& app, Action& action);
void add_explain_command(CLI::App& app, Action& action);
void add_list_command(CLI::App& app, Action& action);
void add_trace_command(CLI::App& app, Action& action);
void add_config_command(CLI::App& app, Action& action);
/// completion and man.
void add_manual_commands(CLI::App& app, Action& action);

}  // namespace warpscope::experiments

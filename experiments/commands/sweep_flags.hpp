// The flags that sweep and merge share, and their last words.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "experiments/commands/command.hpp"
#include "experiments/commands/problem_flags.hpp"
#include "experiments/sweep/export.hpp"

namespace warpscope::experiments {

/// --points, -o, --json and what names the model.
struct SweepFlags {
  ModelFlags model;
  std::string points;
  SweepOutputs outputs;

  void add_to(CLI::App& verb);
};

/// The exit status; where points failed, with a line that says so and names `where` the reasons are.
Status report_failures(const SweepSummary& summary, const std::string& where);

}  // namespace warpscope::experiments

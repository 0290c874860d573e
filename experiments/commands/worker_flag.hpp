// The flag -j.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace warpscope::experiments {

void add_workers_flag(CLI::App& app, std::string& value);
/// Processes to use; all processors if `value` is empty. Throws UsageError.
int read_workers(const std::string& value);

}  // namespace warpscope::experiments

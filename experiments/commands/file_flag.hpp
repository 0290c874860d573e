// Flags that name a file.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace warpscope::experiments {

/// A flag whose value is the name of a file; an empty name is refused while the command line is read.
CLI::Option* add_file_flag(CLI::App& app, const std::string& name, std::string& file,
                           const std::string& help);

}  // namespace warpscope::experiments

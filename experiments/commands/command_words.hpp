// The words of a command line, looked at before they are parsed.
#pragma once

#include <CLI/CLI.hpp>

namespace warpscope::experiments {

/// Throws UsageError for a verb or a flag that does not exist, with the nearest one that does: the parser
/// would say no more than that something was not expected.
void check_words(const CLI::App& app, int argc, const char* const* argv);

}  // namespace warpscope::experiments

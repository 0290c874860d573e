// Reads traces from the text format that FORMAT.md describes.
#pragma once

#include <filesystem>
#include <istream>
#include <string>

#include "model/trace/launch.hpp"
#include "model/trace/trace_error.hpp"

namespace warpscope::trace {

/// Reads and validates a trace; `file` names the source in messages. Throws TraceError at the first mistake.
Trace read_text(std::istream& input, const std::string& file);
/// Reads `path`. Throws TraceError, also where the file cannot be opened.
Trace read_text_file(const std::filesystem::path& path);

}  // namespace warpscope::trace

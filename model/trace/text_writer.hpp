// Writes traces in the text format that FORMAT.md describes.
#pragma once

#include <ostream>
#include <string>

#include "model/trace/launch.hpp"

namespace warpscope::trace {

/// Reading the text back gives an equal trace. Throws ValidationError if `trace` is not valid.
void write_text(std::ostream& output, const Trace& trace);
std::string to_text(const Trace& trace);

}  // namespace warpscope::trace

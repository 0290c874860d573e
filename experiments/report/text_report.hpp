// A run as a page for the terminal.
#pragma once

#include <string>
#include <vector>

#include "experiments/point/run.hpp"

namespace warpscope::experiments {

/// Problem, time, what limits it, busy resources, stalls, occupancy, HBM traffic, launches, notes.
std::string text_report(const Run& run);

/// What a reader must know to read the numbers right; one line each.
std::vector<std::string> notes(const Run& run);
/// The note on matrix products that use Hopper's own tensor instructions in reality.
extern const char* const kMmaSyncNote;

}  // namespace warpscope::experiments

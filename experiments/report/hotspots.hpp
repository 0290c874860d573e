// Where the warp cycles of a run went, by operation of the kernel's text and by instruction.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "experiments/point/run.hpp"
#include "model/metrics/instruction_profile.hpp"

namespace warpscope::experiments {

/// What warps did in one operation of a program, over all its instructions.
struct OperationRow {
  std::string operation;
  metrics::InstructionCycles counts;
};

/// The operations of a program, those that took most first. Branches, exits and padding of stall counts are
/// part of no operation and make one row, "control flow".
std::vector<OperationRow> operation_rows(const trace::WarpProgram& program,
                                         const std::vector<metrics::InstructionCycles>& counts);

/// Tables for the terminal: of operations, and if asked for of the instructions in loops.
std::string hotspots_text(const Run& run, const std::vector<metrics::LaunchProfile>& launches,
                          bool instructions);
/// The same for programs, all instructions with all reasons.
nlohmann::ordered_json hotspots_json(const std::vector<metrics::LaunchProfile>& launches);

}  // namespace warpscope::experiments

// The mark of a sweep that is finished: `--resume` has nothing to do then.
#pragma once

#include <optional>

#include "experiments/sweep/export.hpp"
#include "experiments/sweep/sweep_rows.hpp"

namespace warpscope::experiments {

/// Leaves a mark on the CSV output: a hash of the points, their GPUs, the model version and the outputs. It
/// is an extended attribute of the file, so it goes where the file goes and no second file lies about. File
/// systems without such attributes, and outputs that are no regular files, get none.
void mark_finished(const SweepOutputs& outputs, const SweepRows& rows, const SweepSummary& summary);

/// What the sweep came to, if the mark says that it was the same and the outputs are as it left them.
std::optional<SweepSummary> finished_before(const SweepOutputs& outputs, const SweepRows& rows);

}  // namespace warpscope::experiments

// The outputs of a sweep: made from its rows and the results of their points, whoever simulated them.
#pragma once

#include <functional>
#include <string>

#include "experiments/store/outcome.hpp"
#include "experiments/sweep/sweep_rows.hpp"

namespace warpscope::experiments {

/// Outcome of the point with that key.
using FindOutcome = std::function<Outcome(const std::string& key)>;

struct SweepSummary {
  std::size_t points = 0;
  std::size_t failed = 0;
};

/// The rows as the file has them, in its order, with the columns of the model.
std::string sweep_csv(const SweepRows& rows, const FindOutcome& find);
/// The same with all metrics, see experiments/README.md.
std::string sweep_json(const SweepRows& rows, const FindOutcome& find);
SweepSummary summary(const SweepRows& rows, const FindOutcome& find);

/// Where outputs go; `json` may be empty, and "-" is standard output.
struct SweepOutputs {
  std::string csv;
  std::string json;
};

/// Throws FileError where an output could not be written now, before any work.
void check_writable(const SweepOutputs& outputs);
/// Throws UsageError where an output would replace the store.
void check_apart(const SweepOutputs& outputs, const std::string& store);
/// Writes each file as a whole or not at all.
SweepSummary write_outputs(const SweepOutputs& outputs, const SweepRows& rows, const FindOutcome& find);

}  // namespace warpscope::experiments

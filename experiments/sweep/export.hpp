// The outputs of a sweep: made from its rows and the results of their points, whoever simulated them.
#pragma once

#include <functional>
#include <string>

#include "experiments/base/named_files.hpp"
#include "experiments/store/outcome.hpp"
#include "experiments/sweep/sweep_rows.hpp"

namespace warpscope::experiments {

/// Outcome of the point with that key.
using FindOutcome = std::function<Outcome(const std::string& key)>;

struct SweepSummary {
  std::size_t points = 0;
  std::size_t failed = 0;  ///< without a result
  std::size_t died = 0;    ///< of these, such as another try may give one

  void add(Fate fate) {
    ++points;
    failed += fate == Fate::done ? 0 : 1;
    died += fate == Fate::died ? 1 : 0;
  }
};

/// Where outputs go; `json` may be empty, and "-" is standard output.
struct SweepOutputs {
  std::string csv;
  std::string json;
};

/// Throws, before any work, UsageError where an output is one of the files that the sweep reads or keeps, and
/// FileError where it could not be written now.
void check_outputs(const SweepOutputs& outputs, std::span<const NamedFile> inputs,
                   std::span<const NamedFile> kept);
/// Writes each file as a whole or not at all.
SweepSummary write_outputs(const SweepOutputs& outputs, const SweepRows& rows, const FindOutcome& find);

}  // namespace warpscope::experiments

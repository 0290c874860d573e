// `run --why`: what limits a kernel, found by having more of each resource in turn.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "experiments/whatif/ensemble.hpp"
#include "experiments/whatif/resources.hpp"

namespace warpscope::experiments {

/// What one resource would be worth.
struct Gain {
  Improvement improvement;
  Difference time;    ///< against the GPU as it is; negative: faster
  std::string error;  ///< why it could not be simulated

  /// Part of the improvement that reaches the time: 1 where a resource that is 10 % better makes the kernel
  /// 10 % faster.
  double worth() const;
};

/// By worth, those that are certain first. Throws what run_ensembles() throws, and UsageError where the point
/// itself cannot be simulated.
std::vector<Gain> gains(const Point& point, const PoolOptions& workers);

/// What limits the kernel, in one sentence.
std::string verdict(const std::vector<Gain>& gains);
/// How the numbers were found.
std::string gains_note();
/// A table, the sentence and the note.
std::string why_text(const std::vector<Gain>& gains);
nlohmann::ordered_json why_json(const std::vector<Gain>& gains);

}  // namespace warpscope::experiments

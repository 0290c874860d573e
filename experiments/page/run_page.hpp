// The page of one run.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "experiments/page/nearest_references.hpp"
#include "experiments/page/page.hpp"
#include "experiments/point/run.hpp"
#include "experiments/whatif/why.hpp"

namespace warpscope::experiments {

/// What may be known beyond the run itself.
struct RunExtras {
  std::optional<std::vector<Gain>> gains;  ///< of --why
  /// What the SMs did and when; null where it was not recorded:
  /// {sms: [{sm, ctas: [{cta, start_cycles, end_cycles}]}],
  ///  warps: [{subcore, warp, spans: [{start_cycles, end_cycles, state}]}]}
  nlohmann::json timeline;
  std::vector<NearReference> references;
};

Page run_page(const Run& run, const RunExtras& extras);

/// What the numbers of the run say.
std::vector<std::string> run_sentences(const Run& run, const RunExtras& extras);

}  // namespace warpscope::experiments

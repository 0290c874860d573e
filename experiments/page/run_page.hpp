// The page of one run.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "experiments/page/nearest_references.hpp"
#include "experiments/page/page.hpp"
#include "experiments/point/run.hpp"
#include "experiments/whatif/why.hpp"
#include "model/metrics/timeline_data.hpp"

namespace warpscope::experiments {

/// What may be known beyond the run itself.
struct RunExtras {
  std::optional<std::vector<Gain>> gains;         ///< of --why
  std::optional<metrics::TimelineData> timeline;  ///< what the SMs did and when
  std::vector<NearReference> references;
};

Page run_page(const Run& run, const RunExtras& extras);

/// What the numbers of the run say.
std::vector<std::string> run_sentences(const Run& run, const RunExtras& extras);

}  // namespace warpscope::experiments

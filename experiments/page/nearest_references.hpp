// What others have measured or published nearest to a point, and what the model says there.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "experiments/accuracy/observation.hpp"
#include "experiments/page/chart.hpp"
#include "experiments/workers/pool_options.hpp"

namespace warpscope::experiments {

/// One number of a reference point, on the GPU as it is described.
struct NearReference {
  Point point;
  std::string source;  ///< "counters.csv", "Fig. 5", "time on an H200"
  std::string number;  ///< "cycles", "TFLOP/s", "HBM bytes"
  double reference = 0;
  std::optional<double> model;  ///< none where it could not be simulated
  std::string in_sample;        ///< what the model took from this reference; empty: nothing

  std::optional<double> error() const;
};

/// The numbers of the `most` reference points of the same kernel that are nearest to `point`, nearest first,
/// without what the model says: same GPU, then head dimension, mask, lengths and heads. None where nobody has
/// looked at the kernel.
std::vector<NearReference> nearest_references(const Point& point, std::span<const Observation> observations,
                                              std::size_t most);

/// All there are: counters, published bars, measured times. Throws UsageError where a file is damaged or
/// missing.
std::vector<Observation> page_observations(const std::filesystem::path& directory);

/// Simulates the points.
void add_model(std::vector<NearReference>& references, const PoolOptions& workers);

Chart reference_chart(std::span<const NearReference> references);
std::string reference_sentence(std::span<const NearReference> references);

}  // namespace warpscope::experiments

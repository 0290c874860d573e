// The study why-fa2 as a page reads it: one change of a kernel after another, and each change alone.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace warpscope::experiments {

/// A step of the ladder, for all settings.
struct Rung {
  std::string pass;      ///< "fwd" or "bwd"
  std::string variant;   ///< "fa1+split_q"
  std::string label;     ///< "Split-Q"
  std::string change;    ///< what it is
  std::string relieves;  ///< what it relieves
};

/// One variant in one setting, as counted.
struct LadderPoint {
  std::string variant;
  std::string change;   ///< name of the change, the same in all series
  std::string label;    ///< of its rung or its change, for readers
  std::string same_as;  ///< the kernel of the step before, where the change leaves it as it is
  std::string error;    ///< why there are no numbers
  double time_us = 0;
  double tflops = 0;
  /// Times as fast as the step before (ladder), as fa1 (alone_on_fa1), than without the change
  /// (taken_from_fa2), as fa2 (beyond_fa2). None for the first step.
  std::optional<double> speedup;
  std::optional<double> plus_minus;  ///< what chance makes of it, 19 in 20; none where that was not measured
  std::vector<std::pair<std::string, double>> hbm_bytes;  ///< by tensor
  double shared_wavefronts = 0;
  double barriers = 0;
  double non_matmul_per_score = 0;
  double tensor_share = 0;
  std::vector<std::pair<std::string, double>> stalls;  ///< warps per issue by reason
  double resident_warps = 0;                           ///< of an SM
  double waves = 0;
  std::string limiter;

  double total_hbm_bytes() const;
  /// A speed-up or a loss that is larger than chance, or than a hundredth where chance was not measured.
  bool differs() const { return speedup && std::abs(*speedup - 1) > plus_minus.value_or(kLeastDifference); }
  static constexpr double kLeastDifference = 0.01;
};

/// A GPU and a problem with all that was run there.
struct LadderSetting {
  std::string pass;
  std::string gpu;
  int head_dim = 0;
  bool causal = false;
  int seqlen = 0;
  std::vector<LadderPoint> ladder;  ///< in the order of the rungs
  std::vector<LadderPoint> alone_on_fa1;
  std::vector<LadderPoint> taken_from_fa2;
  std::vector<LadderPoint> beyond_fa2;
};

struct Ladder {
  std::string title;
  std::vector<std::string> sentences;
  std::vector<Rung> rungs;
  std::vector<LadderSetting> settings;  ///< in the order of the points
};

/// Index of the rung that a variant stands on in a pass; `standard` also has GPUs' own, as standard_eager.
/// The number of rungs where there is none.
std::size_t rung_of(const Ladder& ladder, const std::string& pass, const std::string& variant);

/// Throws nlohmann::json::exception where something is missing.
Ladder read_ladder(const nlohmann::json& study);

}  // namespace warpscope::experiments

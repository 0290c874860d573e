// The study why-fa2 as a page reads it: one change of a kernel after another, and each change alone.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace warpscope::experiments {

/// A step of the ladder, for all settings.
struct Rung {
  std::string variant;   ///< "fa1+split_q"
  std::string label;     ///< "Split-Q"
  std::string change;    ///< what it is
  std::string relieves;  ///< what it relieves
};

/// One variant in one setting, as counted.
struct LadderPoint {
  std::string variant;
  std::string change;  ///< name of the change, the same in all series
  std::string error;   ///< why there are no numbers
  double time_us = 0;
  double tflops = 0;
  /// Times as fast as the step before (ladder), as fa1 (alone_on_fa1), than without the change
  /// (taken_from_fa2), as fa2 (beyond_fa2). None for the first step.
  std::optional<double> speedup;
  double speedup_deviation = 0;                           ///< what chance makes of it, 19 in 20
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
  /// A speed-up or a loss that is larger than chance.
  bool is_certain() const {
    return speedup && (*speedup - 1 > speedup_deviation || 1 - *speedup > speedup_deviation);
  }
};

/// A GPU and a problem with all that was run there.
struct LadderSetting {
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

  /// Label of a change as its rung has it; the name itself where there is no such rung.
  std::string label_of(const std::string& change) const;
};

/// Throws nlohmann::json::exception where something is missing.
Ladder read_ladder(const nlohmann::json& study);

}  // namespace warpscope::experiments

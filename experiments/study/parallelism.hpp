// The study parallelism: how many CTAs a problem gives, and what speed it costs where they are too few.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "experiments/study/forward_grid.hpp"
#include "experiments/study/study_run.hpp"

namespace warpscope::experiments {

inline constexpr std::array<int, 8> kBatchHeads = {1, 2, 4, 8, 16, 32, 64, 128};
inline constexpr std::array<int, 3> kParallelismSeqlens = {512, 2048, 16384};

/// One problem on one GPU, and what the model says.
struct ParallelPoint {
  const GridGpu* gpu = nullptr;
  int sm_count = 0;
  Method method = Method::fa1;
  Point point;
  StudyResult outcome;
};

/// By GPU, head dimension, length, method, batch x heads.
std::vector<ParallelPoint> parallel_points();

/// How the CTAs of a run filled the GPU, all from counted metrics.
struct Filling {
  double ctas = 0;
  double waves = 0;       ///< CTAs over the slots for them on all SMs
  double busy_sms = 0;    ///< SMs that held a CTA, mean over the time
  double idle_slots = 0;  ///< share of the CTA slots of all SMs that were empty, mean over the time
  double last_wave = 0;   ///< reference: share of slots that the CTAs of whole waves leave empty in the last
};
Filling filling(const ParallelPoint& point);

std::string parallelism_findings(std::span<const ParallelPoint> points);
std::string parallelism_report(std::span<const ParallelPoint> points);
StudyOutput parallelism_output(std::span<const ParallelPoint> points);

void run_parallelism(const StudyOptions& options);

}  // namespace warpscope::experiments

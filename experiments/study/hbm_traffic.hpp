// The study hbm-traffic: bytes across HBM against sequence length, and against the size of the L2.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "experiments/study/forward_grid.hpp"
#include "experiments/study/study_run.hpp"

namespace warpscope::experiments {

/// Capacities of the L2 over the GPU's own that are tried.
inline constexpr std::array<double, 8> kL2Factors = {1. / 16, 1. / 8, 1. / 4, 1. / 2, 1, 2, 4, 8};
inline constexpr int kL2Seqlen = 4096;

/// One forward pass on a GPU whose L2 has another size, and what the model says.
struct TrafficPoint {
  const GridGpu* gpu = nullptr;
  Method method = Method::standard;
  double l2_factor = 1;
  double l2_bytes = 0;
  double shared_bytes = 0;  ///< shared memory of an SM
  Point point;
  StudyResult outcome;
};

/// All lengths with the GPU's own L2, then all capacities at one length; equal points appear in both.
std::vector<TrafficPoint> traffic_points();

// Reference lines for a whole problem, in bytes. The two laws are no estimates: they have a constant of 1.
/// batch x heads x N^2 fp16 elements: one pass over the scores.
double square_law_bytes(const TrafficPoint& point);
/// batch x heads x N^2 d^2 / M fp16 elements, with M the fp16 elements in the shared memory of one SM.
double flash_law_bytes(const TrafficPoint& point);

/// Q, K and V, each read once.
double input_bytes(const TrafficPoint& point);

std::string hbm_traffic_findings(std::span<const TrafficPoint> points);
std::string hbm_traffic_report(std::span<const TrafficPoint> points);
StudyOutput hbm_traffic_output(std::span<const TrafficPoint> points);

void run_hbm_traffic(const StudyOptions& options);

}  // namespace warpscope::experiments

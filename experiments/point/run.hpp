// Runs a point on the model and keeps what reports need of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "experiments/point/point.hpp"
#include "model/gpu/launch_memo.hpp"
#include "model/hw/hw_config.hpp"
#include "model/metrics/result.hpp"
#include "model/trace/launch.hpp"

namespace warpscope::experiments {

/// Reference line: what one tensor moves at least, in each pass every input read once and every output
/// written once.
struct CompulsoryBytes {
  std::string tensor;
  std::uint64_t read = 0;
  std::uint64_t write = 0;
};

/// A finished simulation.
struct Run {
  std::string gpu;                     ///< as the user named it
  std::vector<std::string> overrides;  ///< what was set differently from its description
  hw::HwConfig config;
  std::optional<Point> point;  ///< absent where a trace file was run
  std::string trace_file;      ///< empty where a kernel was run
  gpu::SimulationOptions options;
  std::vector<CompulsoryBytes> compulsory;  ///< by tensor of the trace
  double flops = 0;  ///< of tflops(): credited to attention, else counted in what the trace executes
  metrics::SimulationResult result;
  std::vector<std::string> remarks;  ///< what else its reader should know, in whole sentences
};

/// What launch code and compilers may know of a GPU.
kernels::GpuLimits limits_of(const hw::HwConfig& config);

/// All throw what the loader, the kernel and the model throw.
Run run_point(const Point& point);
/// With the GPU of the point already loaded, and launches that were simulated before.
Run run_point(const Point& point, const hw::HwConfig& config, gpu::LaunchMemo& memo);
Run run_trace_file(const ModelChoice& model, const std::string& file);

/// Reference line, the field's convention: 4 x batch x heads x queries x keys x head_dim, half of it if
/// causal, and the share of the scores that a window lets be seen; 2.5 times that for the backward pass, 3.5
/// times for both.
double credited_flops(const kernels::Problem& problem);
/// The FLOPs of a run over modelled time; 0 for trace files.
double tflops(const Run& run);
/// Mean SM clock over the launches.
double sm_clock_mhz(const metrics::SimulationResult& result);

}  // namespace warpscope::experiments

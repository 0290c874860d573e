// How busy each resource of the GPU was.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "experiments/point/run.hpp"

namespace warpscope::experiments {

enum class Resource { tensor, issue, fma, alu, xu, data_path, l2, hbm, count };
inline constexpr std::size_t kResources = static_cast<std::size_t>(Resource::count);
std::string_view name(Resource resource);

/// Busy share of each resource from first to last cycle, all SMs, 0 to 1: counted work over what the resource
/// could have done. HBM is held against its data-sheet bandwidth.
using Utilisation = std::array<double, kResources>;

Utilisation utilisation(const hw::HwConfig& config, const metrics::LaunchResult& launch);
/// Mean over the launches by cycles.
Utilisation utilisation(const Run& run);

/// The busiest resource.
Resource busiest(const Utilisation& busy);
/// "tensor pipe", or "latency" where no resource is busy enough to be what holds the kernel up.
std::string limiter_name(const Utilisation& busy);

/// Reference line: TFLOP/s of all tensor pipes with nothing between their instructions.
struct MatmulPeak {
  double tflops = 0;
  std::string_view instruction;  ///< that the run's products use: "mma.sync" or "wgmma"
};
MatmulPeak matmul_peak(const Run& run);

}  // namespace warpscope::experiments

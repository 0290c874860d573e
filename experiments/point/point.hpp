// One simulation to run: a kernel, its problem, the GPU and how to model it.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/kernel.hpp"
#include "model/gpu/simulate.hpp"

namespace warpscope::experiments {

/// How to run the model, whatever runs on it.
struct ModelChoice {
  std::string gpu;                     ///< name in hwconfigs/, or path of a .toml file
  std::vector<std::string> overrides;  ///< "sm.xu.lanes=32"
  gpu::SimulationOptions options;
};

struct Point {
  ModelChoice model;
  std::string kernel;
  kernels::Problem problem;
};

const char* text(kernels::DataType dtype);
const char* text(kernels::ProblemType type);
/// "4096 rows x 1024 columns, fp16" of a problem that is not attention.
std::string matrix_text(const kernels::Problem& problem);

/// "auto" or a number.
std::string splits_text(const kernels::Problem& problem);
/// What attention does beyond the usual, as "num_splits 4", each behind `before`; empty for nothing.
std::string extras_text(const kernels::Problem& problem, const char* before);

/// Where the descriptions of GPUs are: WARPSCOPE_HWCONFIGS, or the installed folder, or the one of the source
/// tree.
std::filesystem::path config_directory();

}  // namespace warpscope::experiments

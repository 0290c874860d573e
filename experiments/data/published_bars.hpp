// The bars of Figures 4 to 7 of the FlashAttention-2 paper.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "kernels/kernel.hpp"

namespace warpscope::experiments {

/// One bar: 16384 tokens in all, hidden size 2048, fp16.
struct PublishedBar {
  int figure = 0;   ///< 4 to 7
  std::string gpu;  ///< name in hwconfigs/
  kernels::Pass pass = kernels::Pass::forward;
  int head_dim = 64;
  bool causal = false;
  std::string method;  ///< as the file names it: "pytorch", "fa1", "xformers", "fa_triton", "fa2"
  int seqlen = 512;
  std::optional<double> tflops;  ///< nothing where the paper prints OOM
};

/// All bars in the order of the file: by figure, head dimension within mask, method, length. `directory`
/// holds the reference data. Throws UsageError `file:line: ...` where the file is damaged or missing.
std::vector<PublishedBar> published_bars(const std::filesystem::path& directory);

}  // namespace warpscope::experiments

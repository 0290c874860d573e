#include <fmt/format.h>

#include <algorithm>

#include "experiments/report/text_report.hpp"
#include "experiments/report/totals.hpp"
#include "experiments/report/units.hpp"
#include "kernels/fa2/key_splits.hpp"

namespace warpscope::experiments {
namespace {

constexpr int kHopper = 9;

bool uses_library_products(const Run& run) {
  return run.point && (run.point->kernel.starts_with("standard") || run.point->kernel == "gemm");
}

/// Bytes of outputs that the SMs have written and HBM has not seen.
std::uint64_t output_bytes_in_l2(const Run& run) {
  std::uint64_t bytes = 0;
  const std::vector<TensorRow> rows = tensor_rows(run);
  // Behind the tensors stand rows of what is none, as code, which has no output.
  for (std::size_t t = 0; t < run.compulsory.size(); ++t) {
    // What is written twice may reach HBM once, hence no more than the tensor.
    const std::uint64_t produced = std::min(rows[t].l2_write_bytes, run.compulsory[t].write);
    bytes += produced > rows[t].write_bytes ? produced - rows[t].write_bytes : 0;
  }
  return bytes;
}

/// Where FlashAttention-2's library, left to itself, would run another kernel; nothing for other kernels.
void add_library_notes(const Run& run, std::vector<std::string>& result) {
  if (!run.point || run.point->problem.pass == kernels::Pass::backward ||
      run.point->problem.num_splits != 1 ||
      (run.point->kernel != "fa2" && run.point->kernel != "fa2_kvcache")) {
    return;
  }
  kernels::Problem left_to_it = run.point->problem;
  left_to_it.num_splits = kernels::kAutoSplits;
  // With these the model has no divided keys.
  if (left_to_it.window.is_given() || left_to_it.softcap != 0 || left_to_it.alibi) {
    return;
  }
  if (const auto splits = kernels::fa2::key_splits(left_to_it, run.config.gpu.sm_count); splits > 1) {
    result.push_back(fmt::format(
        "the library would fill the SMs here by splitting the keys {} ways (split-KV), as --num-splits auto "
        "does; this is its kernel without splits.",
        splits));
  }
}

}  // namespace

const char* const kMmaSyncNote =
    "PyTorch's matrix products use wgmma on Hopper; where no whole tiles fit, here they run on mma.sync.";

std::vector<std::string> notes(const Run& run) {
  std::vector<std::string> result;
  if (uses_library_products(run) && limits_of(run.config).compute_capability_major >= kHopper) {
    result.emplace_back(kMmaSyncNote);
  }
  add_library_notes(run, result);
  if (run.point && run.point->problem.type != kernels::ProblemType::attention) {
    result.emplace_back("TFLOP/s are counted in the executed instructions, not credited.");
  }
  const std::uint64_t left_in_l2 = output_bytes_in_l2(run);
  if (left_in_l2 > 0) {
    result.push_back(fmt::format("{} of the output are still in the L2 at the end, not yet written to HBM.",
                                 bytes_text(left_in_l2)));
  }
  if (run.result.launches.size() > 1) {
    result.push_back(fmt::format("the time includes {} gaps of {} between launches.",
                                 run.result.launches.size() - 1, time_text(run.config.launch.overhead_us)));
  }
  result.insert(result.end(), run.remarks.begin(), run.remarks.end());
  return result;
}

}  // namespace warpscope::experiments

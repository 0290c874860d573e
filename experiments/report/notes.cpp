#include <fmt/format.h>

#include <algorithm>

#include "experiments/report/text_report.hpp"
#include "experiments/report/totals.hpp"
#include "experiments/report/units.hpp"

namespace warpscope::experiments {
namespace {

constexpr int kHopper = 9;

bool uses_library_products(const Run& run) {
  return run.point && run.point->kernel.starts_with("standard");
}

/// Bytes of outputs that the SMs have written and HBM has not seen.
std::uint64_t output_bytes_in_l2(const Run& run) {
  std::uint64_t bytes = 0;
  const std::vector<TensorRow> rows = tensor_rows(run);
  for (std::size_t t = 0; t < rows.size(); ++t) {
    // What is written twice may reach HBM once, hence no more than the tensor.
    const std::uint64_t produced = std::min(rows[t].l2_write_bytes, run.compulsory[t].write);
    bytes += produced > rows[t].write_bytes ? produced - rows[t].write_bytes : 0;
  }
  return bytes;
}

}  // namespace

const char* const kMmaSyncNote = "PyTorch's matrix products use wgmma on Hopper; here they run on mma.sync.";

std::vector<std::string> notes(const Run& run) {
  std::vector<std::string> result;
  if (uses_library_products(run) && limits_of(run.config).compute_capability_major >= kHopper) {
    result.emplace_back(kMmaSyncNote);
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

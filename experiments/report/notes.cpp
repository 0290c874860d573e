#include <fmt/format.h>

#include "experiments/report/text_report.hpp"
#include "experiments/report/totals.hpp"
#include "experiments/report/units.hpp"

namespace warpscope::experiments {
namespace {

constexpr int kHopper = 9;

bool uses_library_products(const Run& run) {
  return run.point && run.point->kernel.starts_with("standard");
}

}  // namespace

const char* const kMmaSyncNote = "PyTorch's matrix products use wgmma on Hopper; here they run on mma.sync.";

std::vector<std::string> notes(const Run& run) {
  std::vector<std::string> result;
  if (uses_library_products(run) && limits_of(run.config).compute_capability_major >= kHopper) {
    result.emplace_back(kMmaSyncNote);
  }
  std::uint64_t left_in_l2 = 0;
  for (const TensorRow& row : tensor_rows(run)) {
    const bool output = row.read_bytes == 0 && row.write_bytes > 0;
    left_in_l2 +=
        output && row.compulsory_bytes > row.write_bytes ? row.compulsory_bytes - row.write_bytes : 0;
  }
  if (left_in_l2 > 0) {
    const ByteUnit unit = byte_unit(left_in_l2);
    result.push_back(
        fmt::format("{} {} of the output are still in the L2 at the end, not yet written to HBM.",
                    in_unit(left_in_l2, unit), unit.name));
  }
  if (run.result.launches.size() > 1) {
    result.push_back(fmt::format("the time includes {} gaps of {} between launches.",
                                 run.result.launches.size() - 1, time_text(run.config.launch.overhead_us)));
  }
  return result;
}

}  // namespace warpscope::experiments

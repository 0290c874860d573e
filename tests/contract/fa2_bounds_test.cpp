// Instructions of FlashAttention-2 where lengths or head dimensions do not fill the tile, against hardware
// counters: Nsight Compute on one H200 SXM, fp16 (experiments/reference/measured-h200/counters_edges.csv).
// The one of head dimension 80 led to a second look at the machine code; none was solved for.
#include <gtest/gtest.h>

#include <array>

#include "kernels/kernel.hpp"
#include "model/trace/statistics.hpp"
#include "tests/support/gpu_limits.hpp"

namespace warpscope::tests {
namespace {

struct Measured {
  const char* kernel;
  kernels::Problem problem;
  double instructions;
};

TEST(Fa2Bounds, TakeAsManyInstructionsAsCounted) {
  const std::array points = {
      Measured{"fa2", {8, 48, 48, 10000, 10000, 32, false}, 8507601408},
      Measured{"fa2", {4, 32, 32, 1024, 1024, 80, false}, 57344000},
      Measured{"fa2", {3, 20, 20, 3000, 3000, 96, false}, 203555820},
      Measured{"fa2", {16, 16, 16, 1000, 1000, 64, true}, 61515264},
      Measured{"fa2_torch", {3, 64, 64, 6000, 6000, 64, true}, 1505618688},
      Measured{"fa2", {3, 64, 64, 6000, 6000, 64, true}, 1106771712},
  };
  for (const Measured& point : points) {
    const trace::Trace built = kernels::find_kernel(point.kernel).build(point.problem, kH200);
    const auto counted = static_cast<double>(trace::total(trace::executed_instructions(built)));
    EXPECT_NEAR(counted / point.instructions, 1, 0.015)
        << point.kernel << ", head dimension " << point.problem.head_dim << ", " << point.problem.seqlen_q;
  }
}

}  // namespace
}  // namespace warpscope::tests

// Reports and lists fit a terminal of 80 columns.
#include <gtest/gtest.h>

#include "tests/cli/program.hpp"

namespace warpscope::cli_test {
namespace {

/// Long names and many changes.
Arguments wide(const std::string& verb, const std::string& kernel, const Arguments& more = {}) {
  Arguments arguments = small_run(kernel, {"--causal", "--set", "sm.issue.cta_turnaround_cycles=700", "--set",
                                           "launch.burst_cta_per_clk=0.25", "--set", "sm.xu.lanes=8"});
  arguments[0] = verb;
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

TEST(Widths, ReportsFitTheTerminal) {
  const TemporaryDirectory directory;
  const std::string trace = WARPSCOPE_SOURCE_DIR "/experiments/traces/copy.trace";
  const std::vector<Arguments> commands = {
      wide("run", "fa1"),
      wide("run", "fa2", {"--why", "-j", "2"}),
      wide("run", "standard"),
      wide("run", "standard_eager"),
      {"run", "--gpu", "a100-sxm4-80gb", "--kernel", "fa2", "--batch", "1", "--heads", "32", "--heads-kv",
       "8", "--seqlen", "1", "--seqlen-k", "65536", "--head-dim", "128"},
      wide("run", "fa1", {"--scan", "sm.tensor.hmma_16816.interval_cycles=6,8", "--scan", "l2=cold,warm"}),
      {"run", "--gpu", "a100-sxm4-80gb", "--trace", trace},
      wide("compare", "fa1", {"--", "--kernel", "standard_eager", "--set", "sm.mio.min_interval_cycles=2"}),
      {"list", "gpus"},
      {"list", "kernels"},
      {"list", "studies"},
      {"explain"}};
  for (const Arguments& command : commands) {
    const ProgramResult result = run_program(command, directory.path());
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_LE(widest_line(result.out), 80U) << result.out;
  }
}

}  // namespace
}  // namespace warpscope::cli_test

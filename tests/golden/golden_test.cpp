// Reports of a few points, byte for byte. WARPSCOPE_UPDATE_GOLDEN=1 in the environment writes the files anew.
#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>

#include "tests/cli/program.hpp"

namespace warpscope::cli_test {
namespace {

struct Golden {
  const char* name;  ///< of the file, without .txt
  Arguments arguments;
};

void PrintTo(const Golden& golden, std::ostream* stream) {
  *stream << golden.name;
}

const Golden kGolden[] = {
    {"fa2_a100",
     {"run", "--gpu", "a100-sxm4-80gb", "--kernel", "fa2", "--batch", "2", "--heads", "16", "--seqlen", "512",
      "--head-dim", "128"}},
    {"fa2_h200_causal_gqa",
     {"run", "--gpu", "h200-sxm-141gb", "--kernel", "fa2", "--batch", "2", "--heads", "16", "--heads-kv", "4",
      "--seqlen", "500", "--seqlen-k", "700", "--head-dim", "64", "--causal"}},
    {"fa1_a100",
     {"run", "--gpu", "a100-sxm4-80gb", "--kernel", "fa1", "--batch", "2", "--heads", "8", "--seqlen", "512",
      "--head-dim", "64"}},
    {"standard_h200",
     {"run", "--gpu", "h200-sxm-141gb", "--kernel", "standard", "--batch", "1", "--heads", "4", "--seqlen",
      "256", "--head-dim", "64", "--causal"}},
    {"trace_copy", {"run", "--gpu", "a100-sxm4-80gb", "--trace", "experiments/traces/causal_copy.trace"}},
};

class GoldenReport : public testing::TestWithParam<Golden> {};

TEST_P(GoldenReport, IsUnchanged) {
  const std::string file = WARPSCOPE_SOURCE_DIR "/tests/golden/" + std::string(GetParam().name) + ".txt";
  const ProgramResult result = run_program(GetParam().arguments, WARPSCOPE_SOURCE_DIR);
  ASSERT_EQ(result.status, 0) << result.err;
  if (const char* update = std::getenv("WARPSCOPE_UPDATE_GOLDEN"); update != nullptr && *update != '\0') {
    write_text(file, result.out);
    return;
  }
  std::istringstream now(result.out);
  std::istringstream before(file_text(file));
  std::string line_now;
  std::string line_before;
  for (int line = 1; std::getline(now, line_now); ++line) {
    std::getline(before, line_before);
    ASSERT_EQ(line_now, line_before) << file << ':' << line
                                     << "; if meant, run with WARPSCOPE_UPDATE_GOLDEN=1";
  }
  EXPECT_EQ(result.out, file_text(file)) << file;
}

INSTANTIATE_TEST_SUITE_P(Points, GoldenReport, testing::ValuesIn(kGolden),
                         [](const auto& parameter) { return std::string(parameter.param.name); });

}  // namespace
}  // namespace warpscope::cli_test

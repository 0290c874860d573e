// `warpscope check-numbers` from outside.
#include <gtest/gtest.h>

#include <string>

#include "tests/cli/program.hpp"

namespace warpscope::cli_test {
namespace {

TEST(CliCheckNumbers, AllKindsOfKernelsPass) {
  const TemporaryDirectory directory;
  const Arguments attention = {"--batch", "1",          "--heads", "2",       "--seqlen",
                               "192",     "--head-dim", "64",      "--causal"};
  const auto check = [&](const std::string& kernel, const Arguments& sizes) {
    Arguments arguments = {"check-numbers", "--kernel", kernel};
    arguments.insert(arguments.end(), sizes.begin(), sizes.end());
    const ProgramResult result = run_program(arguments, directory.path());
    EXPECT_EQ(result.status, 0) << kernel << result.out << result.err;
    EXPECT_NE(result.out.find("largest error"), std::string::npos) << result.out;
    return result.out;
  };
  for (const char* kernel :
       {"fa1", "fa2", "fa2_torch", "standard", "standard_eager", "xformers", "fa1+split_q"}) {
    check(kernel, attention);
  }
  for (const char* kernel : {"triton", "triton_seqpar"}) {  // whole blocks of 128
    check(kernel,
          {"--batch", "1", "--heads", "2", "--seqlen", "256", "--head-dim", "64", "--pass", "fwd+bwd"});
  }
  check("gemm", {"--rows", "100", "--cols", "72", "--depth", "40", "--batch", "2"});
  const std::string softmax = check("row_softmax", {"--rows", "5", "--cols", "33", "--dtype", "bf16"});
  EXPECT_NE(softmax.find("exponentials"), std::string::npos) << softmax;
  EXPECT_LE(widest_line(softmax), 80U);
}

TEST(CliCheckNumbers, LongProblemsAreRefused) {
  const TemporaryDirectory directory;
  const ProgramResult result = run_program(
      {"check-numbers", "--kernel", "row_softmax", "--rows", "1000000", "--cols", "2048"}, directory.path());
  EXPECT_EQ(result.status, 2);
  EXPECT_EQ(result.err,
            "warpscope: checking the numbers of 1.31e+11 multiply-adds would take minutes; legal are up to "
            "2.15e+09\n");
}

}  // namespace
}  // namespace warpscope::cli_test

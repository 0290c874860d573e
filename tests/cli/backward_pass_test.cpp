// `--pass bwd` and `--pass fwd+bwd` from outside.
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/cli/program.hpp"

namespace warpscope::cli_test {
namespace {

using Json = nlohmann::json;

Json run_pass(const std::string& pass) {
  const TemporaryDirectory directory;
  const ProgramResult result =
      run_program({"run", "--gpu", "h200-sxm-141gb", "--kernel", "fa2", "--pass", pass, "--batch", "1",
                   "--heads", "4", "--heads-kv", "2", "--seqlen", "256", "--head-dim", "64", "--json", "-"},
                  directory.path());
  EXPECT_EQ(result.status, 0) << result.err;
  return Json::parse(result.out);
}

std::map<std::string, double> compulsory(const Json& run) {
  std::map<std::string, double> bytes;
  for (const Json& row : run.at("hbm_traffic")) {
    bytes[row.at("tensor")] = row.at("compulsory_bytes");
  }
  return bytes;
}

TEST(CliBackwardPass, BothPassesAreTheSumOfEach) {
  const Json forward = run_pass("fwd");
  const Json backward = run_pass("bwd");
  const Json both = run_pass("fwd+bwd");
  EXPECT_EQ(both.at("pass"), "fwd+bwd");
  ASSERT_EQ(both.at("launches").size(), forward.at("launches").size() + backward.at("launches").size());
  EXPECT_EQ(backward.at("launches").size(), 5U);
  const auto sum = [&](const char* metric) {
    return forward.at("metrics").at(metric).get<double>() + backward.at("metrics").at(metric).get<double>();
  };
  for (const char* metric : {"sm__inst_executed.sum", "dram__bytes_read.sum"}) {
    EXPECT_EQ(both.at("metrics").at(metric).get<double>(), sum(metric)) << metric;
  }
  const auto flops = [](const Json& run) {
    return run.at("tflops").get<double>() * run.at("time_us").get<double>();
  };
  EXPECT_NEAR(flops(backward) / flops(forward), 2.5, 1e-9);
  EXPECT_NEAR(flops(both) / flops(forward), 3.5, 1e-9);
}

TEST(CliBackwardPass, CompulsoryBytesAreThoseOfEachPass) {
  constexpr double kQueries = 4 * 256 * 64 * 2;
  constexpr double kKeys = kQueries / 2;
  const std::map<std::string, double> backward = compulsory(run_pass("bwd"));
  for (const char* tensor : {"Q", "O", "dO", "dQ"}) {
    EXPECT_EQ(backward.at(tensor), kQueries) << tensor;
  }
  for (const char* tensor : {"K", "V", "dK", "dV"}) {
    EXPECT_EQ(backward.at(tensor), kKeys) << tensor;
  }
  for (const char* tensor : {"dQ_sum", "dO_O", "dK_heads", "dV_heads"}) {
    EXPECT_EQ(backward.at(tensor), 0) << tensor;
  }
  const std::map<std::string, double> both = compulsory(run_pass("fwd+bwd"));
  EXPECT_EQ(both.at("Q"), 2 * kQueries);
  EXPECT_EQ(both.at("O"), 2 * kQueries);  // written by the one, read by the other
  EXPECT_EQ(both.at("dO"), kQueries);
}

TEST(CliBackwardPass, ListSaysWhichKernelsHaveIt) {
  const TemporaryDirectory directory;
  const std::string list = run_program({"list", "kernels"}, directory.path()).out;
  EXPECT_NE(list.find("fa2             fwd, bwd, fwd+bwd"), std::string::npos) << list;
  EXPECT_NE(list.find("row_softmax"), std::string::npos) << list;
}

TEST(CliBackwardPass, SweepTakesThePasses) {
  const TemporaryDirectory directory;
  write_text(directory / "points.csv",
             "kernel,pass,batch,heads,seqlen,head_dim\nfa2,bwd,1,1,128,64\nfa2_torch,fwd+bwd,1,1,128,64\n");
  const ProgramResult result = run_program(
      {"sweep", "--points", "points.csv", "--gpu", "h200-sxm-141gb", "-o", "out.csv"}, directory.path());
  EXPECT_EQ(result.status, 0) << result.err;
}

}  // namespace
}  // namespace warpscope::cli_test

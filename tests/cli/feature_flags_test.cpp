// Flags and columns for divided keys, windows, softcap and ALiBi.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"

namespace warpscope::cli_test {
namespace {

ProgramResult run_with(const std::vector<std::string>& flags, const std::string& kernel = "fa2") {
  std::vector<std::string> arguments = {
      "run",      "--gpu", "h200-sxm-141gb", "--kernel", kernel,   "--batch", "1", "--heads", "2",
      "--seqlen", "256",   "--head-dim",     "64",       "--json", "-"};
  arguments.insert(arguments.end(), flags.begin(), flags.end());
  const TemporaryDirectory directory;
  return run_program(arguments, directory.path());
}

TEST(FeatureFlags, StandInTheProblem) {
  const auto problem = [](const std::vector<std::string>& flags) {
    const ProgramResult result = run_with(flags);
    EXPECT_EQ(result.status, 0) << result.err;
    return nlohmann::json::parse(result.out)["problem"];
  };
  EXPECT_EQ(problem({"--window", "64,0"})["window"], nlohmann::json({64, 0}));
  EXPECT_EQ(problem({"--window", "64"})["window"], nlohmann::json({64, 64}));
  EXPECT_EQ(problem({"--softcap", "30"})["softcap"], 30);
  EXPECT_EQ(problem({"--alibi"})["alibi"], true);
  EXPECT_EQ(problem({"--num-splits", "2"})["num_splits"], 2);
  EXPECT_EQ(problem({"--num-splits", "auto"})["num_splits"], "auto");
  EXPECT_FALSE(problem({}).contains("window"));
}

TEST(FeatureFlags, SayWhatIsLegal) {
  const auto error = [](const std::vector<std::string>& flags, const std::string& kernel = "fa2") {
    const ProgramResult result = run_with(flags, kernel);
    EXPECT_EQ(result.status, 2);
    return result.err;
  };
  EXPECT_EQ(
      error({"--window", "64,x"}),
      "warpscope: --window '64,x': legal are L and L,R, each an integer from -1 (all keys) to 1048576\n");
  EXPECT_EQ(error({"--softcap", "-1"}),
            "warpscope: --softcap '-1': legal is a number above 0, up to 1000000\n");
  EXPECT_EQ(error({"--alibi"}, "xformers"),
            "warpscope: kernel xformers does not have ALiBi; kernels that do: fa2, fa2_torch\n");
}

TEST(FeatureFlags, AreColumnsOfASweep) {
  const TemporaryDirectory directory;
  write_text(directory / "points.csv",
             "kernel,pass,batch,heads,seqlen,head_dim,window,softcap,alibi\n"
             "fa2,fwd,1,2,256,64,64;0,,\n"
             "fa2,fwd,1,2,256,64,,30,yes\n"
             "fa1,fwd,1,2,256,64,,30,\n");
  const ProgramResult result = run_program(
      {"sweep", "--points", "points.csv", "--gpu", "h200-sxm-141gb", "-o", "out.csv"}, directory.path());
  EXPECT_EQ(result.status, 3) << result.err;
  const std::string out = file_text(directory / "out.csv");
  EXPECT_NE(out.find("kernel fa1 does not have softcap"), std::string::npos) << out;
}

}  // namespace
}  // namespace warpscope::cli_test

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

ProgramResult run_lengths(const std::vector<std::string>& flags, const std::string& kernel = "fa2") {
  std::vector<std::string> arguments = {"run",     "--gpu", "h200-sxm-141gb", "--kernel", kernel,
                                        "--heads", "2",     "--json",         "-",        "--head-dim",
                                        "64"};
  arguments.insert(arguments.end(), flags.begin(), flags.end());
  const TemporaryDirectory directory;
  return run_program(arguments, directory.path());
}

TEST(FeatureFlags, LengthsSayTheBatch) {
  const ProgramResult result = run_lengths({"--seqlens", "300,1,128"});
  ASSERT_EQ(result.status, 0) << result.err;
  const nlohmann::json json = nlohmann::json::parse(result.out);
  EXPECT_EQ(json["problem"]["batch"], 3);
  EXPECT_EQ(json["problem"]["seqlen_q"], 300);
  EXPECT_EQ(json["problem"]["seqlens"], nlohmann::json({300, 1, 128}));
  EXPECT_EQ(json["launches"][0]["grid"], nlohmann::json({3, 3, 2}));
  // 429 rows of 2 heads, each once, and the ends of 3 sequences.
  for (const auto& row : json["hbm_traffic"]) {
    const int bytes = row["tensor"] == "cu_seqlens" ? 16
                      : row["tensor"] == "LSE"      ? 429 * 2 * 4
                                                    : 429 * 2 * 128;
    const bool is_of_problem = row["tensor"] != "spills" && row["tensor"] != "code";
    EXPECT_EQ(row["compulsory_bytes"], is_of_problem ? bytes : 0) << row;
  }
  // 4 x heads x d x the sum of squares.
  EXPECT_NEAR(json["tflops"].get<double>() * json["time_us"].get<double>() * 1e6,
              4.0 * 2 * 64 * (300 * 300 + 1 + 128 * 128), 1);
}

TEST(FeatureFlags, OtherWaysToSayLengthsAreRefused) {
  const auto error = [](const std::vector<std::string>& flags, const std::string& kernel = "fa2") {
    const ProgramResult result = run_lengths(flags, kernel);
    EXPECT_EQ(result.status, 2);
    return result.err;
  };
  EXPECT_EQ(error({"--seqlens", "300,1", "--batch", "2"}),
            "warpscope: --batch does not go with --seqlens, which says how many sequences there are and how "
            "long each is; legal is one of the two\n");
  EXPECT_EQ(error({"--seqlens", "300,1", "--seqlen", "300"}),
            "warpscope: --seqlen does not go with --seqlens, which says how many sequences there are and how "
            "long each is; legal is one of the two\n");
  EXPECT_EQ(error({"--seqlens", "300,,1"}),
            "warpscope: --seqlens '300,,1': legal are up to 65535 integers from 1 to 1048576, with commas or "
            "semicolons between them\n");
  EXPECT_EQ(error({"--seqlens", "300,1"}, "fa1"),
            "warpscope: kernel fa1 does not have sequences of their own lengths; kernels that do: fa2, "
            "fa2_torch\n");
  EXPECT_EQ(error({"--batch", "1", "--seqlen", "256", "--dropout", "1"}),
            "warpscope: --dropout '1': legal is a number above 0 and below 1\n");
  EXPECT_EQ(error({"--batch", "1", "--seqlen", "1", "--seqlen-k", "512", "--page-size", "100"}),
            "warpscope: fa2 takes pages of a multiple of 256 keys (page_size), not 100\n");
}

TEST(FeatureFlags, DropoutAndPagesStandInTheProblem) {
  const auto problem = [](const std::vector<std::string>& flags) {
    const ProgramResult result = run_lengths(flags);
    EXPECT_EQ(result.status, 0) << result.err;
    return nlohmann::json::parse(result.out)["problem"];
  };
  EXPECT_EQ(problem({"--batch", "1", "--seqlen", "256", "--dropout", "0.1"})["dropout"], 0.1);
  EXPECT_EQ(
      problem({"--batch", "2", "--seqlen", "1", "--seqlen-k", "600", "--page-size", "256"})["page_size"],
      256);
}

TEST(FeatureFlags, DeterministicIsOfTheBackwardPass) {
  const auto run = [](const std::vector<std::string>& flags) {
    const ProgramResult result = run_with(flags);
    EXPECT_EQ(result.status, 0) << result.err;
    return nlohmann::json::parse(result.out);
  };
  const nlohmann::json json = run({"--pass", "bwd", "--deterministic"});
  EXPECT_EQ(json["problem"]["deterministic"], true);
  ASSERT_EQ(json["launches"].size(), 4U);
  EXPECT_EQ(json["launches"][2]["grid"], nlohmann::json({66, 1, 2}));  // 132 SMs, 2 heads
  // 66 copies of the sums of dQ, which are cold in the launch that reads them, and 54 lines of code.
  const int copies = 66 * 2 * 256 * 64 * 4;
  EXPECT_EQ(json["launches"][3]["metrics"]["dram__bytes_read.sum"], copies + 54 * 128);
  EXPECT_FALSE(run({"--pass", "bwd"})["problem"].contains("deterministic"));
  EXPECT_EQ(run({"--pass", "fwd+bwd", "--deterministic"})["launches"].size(), 5U);
  const auto error = [](const std::vector<std::string>& flags, const std::string& kernel = "fa2") {
    const ProgramResult result = run_with(flags, kernel);
    EXPECT_EQ(result.status, 2);
    return result.err;
  };
  EXPECT_EQ(error({"--deterministic"}),
            "warpscope: fa2 has a deterministic mode in its backward pass only, pass bwd or fwd+bwd; its "
            "forward pass "
            "always is\n");
  EXPECT_EQ(
      error({"--pass", "bwd", "--deterministic"}, "xformers"),
      "warpscope: kernel xformers does not have a deterministic mode; kernels that do: fa2, fa2_torch\n");
}

TEST(FeatureFlags, HeadsFirstIsOfBothPassesAndKeepsHeadsOf32Apart) {
  const auto run = [](const std::vector<std::string>& flags) {
    std::vector<std::string> arguments = {
        "run",      "--gpu", "h200-sxm-141gb", "--kernel", "fa2",        "--batch", "1", "--heads", "2",
        "--seqlen", "256",   "--json",         "-",        "--head-dim", "32"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    const TemporaryDirectory directory;
    const ProgramResult result = run_program(arguments, directory.path());
    EXPECT_EQ(result.status, 0) << result.err;
    return nlohmann::json::parse(result.out);
  };
  const auto hit_bytes = [](const nlohmann::json& json) {
    double bytes = 0;
    for (const nlohmann::json& tensor : json["hbm_traffic"]) {
      bytes += tensor["l2_read_hit_bytes"].get<double>();
    }
    return bytes;
  };
  for (const char* pass : {"fwd", "bwd"}) {
    const nlohmann::json apart = run({"--pass", pass, "--heads-first"});
    const nlohmann::json shared = run({"--pass", pass});
    EXPECT_EQ(apart["problem"]["heads_first"], true);
    EXPECT_FALSE(shared["problem"].contains("heads_first"));
    EXPECT_GT(hit_bytes(shared), hit_bytes(apart)) << "one head brings the other's rows";
  }
  const ProgramResult other = run_with({"--heads-first"}, "xformers");
  EXPECT_EQ(other.status, 2);
  EXPECT_EQ(
      other.err,
      "warpscope: kernel xformers does not have tensors with heads before tokens; kernels that do: fa2, "
      "fa2_torch\n");
}

TEST(FeatureFlags, DeterministicIsAColumnAndAnAxis) {
  const TemporaryDirectory directory;
  write_text(directory / "points.csv",
             "kernel,pass,batch,heads,seqlen,head_dim,deterministic\n"
             "fa2,bwd,1,2,256,64,1\n"
             "fa2_torch,bwd,1,2,256,64,0\n"
             "fa2,bwd,1,2,256,64,maybe\n");
  const ProgramResult result = run_program(
      {"sweep", "--points", "points.csv", "--gpu", "h200-sxm-141gb", "-o", "out.csv"}, directory.path());
  EXPECT_EQ(result.status, 3) << result.err;
  const std::string out = file_text(directory / "out.csv");
  EXPECT_NE(out.find("deterministic 'maybe': legal are 0, 1, false, true, no, yes"), std::string::npos)
      << out;
  EXPECT_NE(result.err.find("1 of 3"), std::string::npos) << result.err;
  const ProgramResult scan =
      run_program({"run", "--gpu", "h200-sxm-141gb", "--kernel", "fa2", "--pass", "bwd", "--batch", "1",
                   "--heads", "2", "--seqlen", "256", "--head-dim", "64", "--scan", "deterministic=0,1"},
                  directory.path());
  EXPECT_EQ(scan.status, 0) << scan.err;
  EXPECT_NE(scan.out.find("deterministic"), std::string::npos) << scan.out;
}

TEST(FeatureFlags, AreColumnsOfASweep) {
  const TemporaryDirectory directory;
  write_text(directory / "points.csv",
             "kernel,pass,batch,heads,seqlen,head_dim,window,softcap,alibi,seqlens,dropout,page_size\n"
             "fa2,fwd,1,2,256,64,64;0,,,,,\n"
             "fa2,fwd,1,2,256,64,,30,yes,,,\n"
             "fa2,fwd,,2,,64,,,,100;200,0.2,\n"
             "fa2_kvcache,fwd,1,2,256,64,,,,,,256\n"
             "fa1,fwd,1,2,256,64,,30,,,,\n");
  const ProgramResult result = run_program(
      {"sweep", "--points", "points.csv", "--gpu", "h200-sxm-141gb", "-o", "out.csv"}, directory.path());
  EXPECT_EQ(result.status, 3) << result.err;
  const std::string out = file_text(directory / "out.csv");
  EXPECT_NE(out.find("kernel fa1 does not have softcap"), std::string::npos) << out;
  EXPECT_NE(result.err.find("1 of 5"), std::string::npos) << result.err;
}

}  // namespace
}  // namespace warpscope::cli_test

// Kernels that are not attention, from the command line.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/cli/program.hpp"

namespace warpscope::cli_test {
namespace {

using Json = nlohmann::ordered_json;

const Arguments kSoftmax = {"--kernel", "row_softmax", "--rows", "64", "--cols", "256"};
const Arguments kGemm = {"--kernel", "gemm",    "--rows", "256",     "--cols",
                         "256",      "--depth", "64",     "--batch", "2"};

ProgramResult run_kernel(const Arguments& kernel, const Arguments& more = {}) {
  const TemporaryDirectory directory;
  Arguments arguments = {"run", "--gpu", "a100-sxm4-80gb"};
  arguments.insert(arguments.end(), kernel.begin(), kernel.end());
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run_program(arguments, directory.path());
}

Json json_of(const Arguments& kernel) {
  const ProgramResult result = run_kernel(kernel, {"--json", "-"});
  EXPECT_EQ(result.status, 0) << result.err;
  return Json::parse(result.out);
}

double flops(const Json& json) {
  return json["tflops"].get<double>() * json["time_us"].get<double>() * 1e6;
}

TEST(CliProblemTypes, RowsHaveTheirFieldsAndCountedFlops) {
  const Json json = json_of(kSoftmax);
  EXPECT_EQ(json["problem"], Json::parse(R"({"rows":64,"cols":256,"dtype":"fp16"})"));
  // A lane has 8 of the 256 elements of its row: 8 FFMA of the exponentials, 7 FADD and 5 behind shuffles, 8
  // FMUL and one of the maximum.
  EXPECT_NEAR(flops(json), 64 * 32 * (2 * 8 + 7 + 5 + 8 + 1), 0.5);
  EXPECT_EQ(json["notes"][0], "TFLOP/s are counted in the executed instructions, not credited.");
  EXPECT_EQ(json["hbm_traffic"][0]["compulsory_bytes"], 64 * 256 * 2);
}

TEST(CliProblemTypes, ProductsHaveTheirFieldsAndCountedFlops) {
  const Json json = json_of(kGemm);
  EXPECT_EQ(json["problem"], Json::parse(R"({"batch":2,"rows":256,"cols":256,"depth":64,"dtype":"fp16"})"));
  // Tiles divide the product; each element of C is scaled once.
  EXPECT_NEAR(flops(json), 2.0 * 2 * 256 * 256 * 64 + 2 * 256 * 256, 0.5);
}

TEST(CliProblemTypes, ReportSaysWhatTheProblemIs) {
  const ProgramResult result = run_kernel(kSoftmax);
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_TRUE(result.out.starts_with("row_softmax on a100-sxm4-80gb")) << result.out;
  EXPECT_NE(result.out.find("  64 rows x 256 columns, fp16\n"), std::string::npos) << result.out;
}

TEST(CliProblemTypes, FlagsOfAnotherTypeAreRefused) {
  const auto refusal = [](const Arguments& kernel, const Arguments& more) {
    const ProgramResult result = run_kernel(kernel, more);
    EXPECT_EQ(result.status, 2);
    return result.err;
  };
  EXPECT_EQ(refusal(kSoftmax, {"--heads", "2"}),
            "warpscope: --heads does not go with kernel row_softmax, whose sizes are --rows, --cols\n");
  EXPECT_EQ(refusal(kSoftmax, {"--causal"}),
            "warpscope: --causal does not go with kernel row_softmax, whose sizes are --rows, --cols\n");
  EXPECT_EQ(refusal(kSoftmax, {"--depth", "2"}),
            "warpscope: --depth does not go with kernel row_softmax, whose sizes are --rows, --cols\n");
  EXPECT_EQ(
      refusal({"--kernel", "fa2", "--batch", "1", "--heads", "1", "--seqlen", "128", "--head-dim", "64"},
              {"--rows", "2"}),
      "warpscope: --rows does not go with kernel fa2, whose sizes are --batch, --heads, --seqlen, "
      "--head-dim, --heads-kv, --seqlen-k\n");
  EXPECT_EQ(refusal({"--kernel", "row_softmax", "--rows", "4"}, {}), "warpscope: --cols is missing\n");
  EXPECT_EQ(refusal({"--kernel", "row_softmax", "--rows", "4", "--cols", "4096"}, {}),
            "warpscope: row_softmax keeps a row in registers: cols is 4096, legal is up to 2048\n");
}

TEST(CliProblemTypes, SweepsAndScansMixThem) {
  const TemporaryDirectory directory;
  write_text(directory / "points.csv",
             "kernel,pass,batch,heads,seqlen,head_dim,rows,cols,depth\n"
             "fa2,fwd,1,1,128,64,,,\n"
             "row_softmax,,,,,,64,256,\n"
             "row_softmax,,1,,,,64,256,\n"
             "gemm,fwd,,,,,64,64,64\n");
  const ProgramResult sweep =
      run_program({"sweep", "--gpu", "a100-sxm4-80gb", "--points", "points.csv", "-o", "out.csv", "-j", "1"},
                  directory.path());
  EXPECT_EQ(sweep.status, 3) << sweep.err;
  const std::vector<std::string> rows = lines(file_text(directory / "out.csv"));
  ASSERT_EQ(rows.size(), 5U);
  for (const std::size_t good : {1, 2, 4}) {
    EXPECT_TRUE(rows[good].ends_with(",")) << rows[good];  // model_error is empty
  }
  EXPECT_NE(rows[3].find("batch does not go with kernel row_softmax, whose sizes are rows, cols"),
            std::string::npos)
      << rows[3];
  const ProgramResult scan =
      run_kernel({"--kernel", "row_softmax", "--rows", "64", "--cols", "256,512"}, {"-j", "1"});
  EXPECT_EQ(scan.status, 0) << scan.err;
}

}  // namespace
}  // namespace warpscope::cli_test

// `warpscope sweep` from outside.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"

namespace warpscope::cli_test {
namespace {

const std::string kHeader = "impl,pass,batch,heads,seqlen_q,head_dim";
const std::string kAdded =
    ",model_time_us,model_cycles,model_tflops,model_dram_read_bytes,model_dram_write_bytes,model_error\n";

Arguments sweep(const Arguments& more = {}) {
  Arguments arguments = {"sweep", "--points", "points.csv", "--gpu", "h200-sxm-141gb", "-o", "out.csv"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

TEST(CliSweep, CarriesOtherColumnsThroughUntouched) {
  const TemporaryDirectory directory;
  write_text(directory / "points.csv", "\xef\xbb\xbfnote, extra ," + kHeader + "\r\n" +
                                           "\"a, \"\"quoted\"\"\r\nnote\",  x ,fa2,fwd,1,2,128,64\r\n\r\n" +
                                           ",\"y\",fa2,fwd,1,2,64, 64");
  const ProgramResult result = run_program(sweep(), directory.path());
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(directory.files(), (std::vector<std::string>{"out.csv", "points.csv"}));
  const std::string out = file_text(directory / "out.csv");
  EXPECT_TRUE(out.starts_with("note, extra ," + kHeader + kAdded)) << out;
  EXPECT_NE(out.find("\n\"a, \"\"quoted\"\"\r\nnote\",  x ,fa2,fwd,1,2,128,64,"), std::string::npos) << out;
  EXPECT_NE(out.find("\n,\"y\",fa2,fwd,1,2,64, 64,"), std::string::npos) << out;
}

TEST(CliSweep, AgreesWithRun) {
  const TemporaryDirectory directory;
  write_text(directory / "points.csv", kHeader + "\nfa2,fwd,1,2,256,64\n");
  ASSERT_EQ(run_program(sweep(), directory.path()).status, 0);
  const auto run =
      nlohmann::json::parse(run_program(small_run("fa2", {"--json", "-"}), directory.path()).out);
  const std::string row = lines(file_text(directory / "out.csv")).at(1);
  const std::string cycles = std::to_string(run["cycles"].get<std::int64_t>());
  EXPECT_NE(row.find("," + cycles + ","), std::string::npos) << row << " should have " << cycles;
}

TEST(CliSweep, TakesChangesOfTheGpuByRow) {
  const TemporaryDirectory directory;
  write_text(directory / "points.csv",
             "set," + kHeader + "\n,fa2,fwd,1,2,256,64\n" +
                 "sm.xu.lanes=4 sm.fma.lanes=16;sm.alu.lanes=8,fa2,fwd,1,2,256,64\n" +
                 "sm.xu.lames=4,fa2,fwd,1,2,256,64\n");
  ASSERT_EQ(run_program(sweep(), directory.path()).status, 3);
  const std::vector<std::string> rows = lines(file_text(directory / "out.csv"));
  const auto changed =
      nlohmann::json::parse(run_program(small_run("fa2", {"--json", "-", "--set", "sm.xu.lanes=4", "--set",
                                                          "sm.fma.lanes=16", "--set", "sm.alu.lanes=8"}),
                                        directory.path())
                                .out);
  const std::string cycles = ',' + std::to_string(changed["cycles"].get<std::int64_t>()) + ',';
  EXPECT_EQ(rows.at(1).find(cycles), std::string::npos) << rows[1];
  EXPECT_NE(rows.at(2).find(cycles), std::string::npos) << rows[2];
  EXPECT_NE(rows.at(3).find("unknown key; the nearest legal key is sm.xu.lanes"), std::string::npos)
      << rows[3];
}

TEST(CliSweep, UnderstandsYesAndNo) {
  const TemporaryDirectory directory;
  std::string points = kHeader + ",causal\n";
  for (const char* word : {"0", "false", "no", "1", "true", "yes"}) {
    points += std::string("fa2,fwd,1,2,256,64,") + word + '\n';
  }
  write_text(directory / "points.csv", points);
  ASSERT_EQ(run_program(sweep(), directory.path()).status, 0);
  std::vector<std::string> results;
  for (const std::string& row : lines(file_text(directory / "out.csv"))) {
    results.push_back(row.substr(row.find(',', row.find(",64,") + 4)));
  }
  EXPECT_EQ(results.at(1), results.at(2));
  EXPECT_EQ(results.at(1), results.at(3));
  EXPECT_NE(results.at(3), results.at(4));
  EXPECT_EQ(results.at(4), results.at(5));
  EXPECT_EQ(results.at(4), results.at(6));
}

TEST(CliSweep, GivesTheSameBytesForAnyNumberOfWorkers) {
  const TemporaryDirectory directory;
  std::string points = kHeader + ",causal\n";
  for (const char* kernel : {"fa2", "fa1", "fa2_torch", "fa9"}) {
    for (const char* seqlen : {"64", "192", "128"}) {
      points += std::string(kernel) + ",fwd,1,2," + seqlen + ",64,1\n";
    }
  }
  write_text(directory / "points.csv", points);
  EXPECT_EQ(run_program(sweep({"-j", "1"}), directory.path()).status, 3);
  const std::string one = file_text(directory / "out.csv");
  EXPECT_EQ(run_program(sweep({"-j", "2"}), directory.path()).status, 3);
  EXPECT_EQ(file_text(directory / "out.csv"), one);
  EXPECT_EQ(run_program(sweep({"-j", "5"}), directory.path()).status, 3);
  EXPECT_EQ(file_text(directory / "out.csv"), one);
}

TEST(CliSweep, WhatRelatedPointsShareChangesNoByte) {
  const TemporaryDirectory directory;
  const std::string header = kHeader + ",causal\n";
  const std::vector<std::string> rows = {"standard,fwd,2,2,128,64,0\n", "standard,fwd,2,2,128,64,1\n"};
  write_text(directory / "points.csv", header + rows[0] + rows[1]);
  ASSERT_EQ(run_program(sweep({"-j", "1"}), directory.path()).status, 0);
  const std::vector<std::string> together = lines(file_text(directory / "out.csv"));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    write_text(directory / "points.csv", header + rows[i]);
    ASSERT_EQ(run_program(sweep({"-j", "1"}), directory.path()).status, 0);
    EXPECT_EQ(lines(file_text(directory / "out.csv")).at(1), together.at(i + 1));
  }
}

TEST(CliSweep, ABadRowSaysWhyAndHarmsNoOther) {
  const TemporaryDirectory directory;
  const std::string header =
      "kernel,pass,batch,heads,heads_kv,seqlen,head_dim,causal,dtype,num_splits,l2,gpu";
  const std::vector<std::pair<std::string, std::string>> rows = {
      {"fa2,fwd,1,2,,128,64,,,,,", ""},
      {"fa9,fwd,1,2,,128,64,,,,,",
       "\"kernel 'fa9': legal are fa1, fa2, fa2_kvcache, fa2_torch, standard, standard_eager, xformers, "
       "triton, triton_seqpar, gemm, "
       "row_softmax and variants like fa1+split_q\""},
      {"fa2,up,1,2,,128,64,,,,,", "\"pass 'up': legal are fwd, bwd, fwd+bwd\""},
      {"fa2-lse,bwd,1,2,,128,64,,,,,",
       "\"the backward pass of a variant reads the log-sum-exp of the forward pass, so it needs lse\""},
      {"fa2,fwd,x,2,,128,64,,,,,", "batch 'x': legal is an integer from 1 to 65535"},
      {"fa2,fwd,,2,,128,64,,,,,", "batch is missing"},
      {"fa2,fwd,1,-2,,128,64,,,,,", "heads '-2': legal is an integer from 1 to 65535"},
      {"fa2,fwd,1,2,3,128,64,,,,,", "heads_kv '3': legal are divisors of the 2 query heads"},
      {"fa2,fwd,1,2,,0,64,,,,,", "seqlen '0': legal is an integer from 1 to 1048576"},
      {"fa2,fwd,1,2,,9999999999,64,,,,,", "seqlen '9999999999': legal is an integer from 1 to 1048576"},
      {"fa2,fwd,1,2,,128,64,2,,,,", "\"causal '2': legal are 0, 1, false, true, no, yes\""},
      {"fa2,fwd,1,2,,128,64,,fp8,,,", "\"dtype 'fp8': legal are fp16, bf16\""},
      {"fa2,fwd,1,2,,128,64,,,0,,", "num_splits '0': legal are auto and an integer from 1 to 128"},
      {"fa1,fwd,1,2,,128,64,,,7,,",
       "\"kernel fa1 does not have num_splits; kernels that do: fa2, fa2_kvcache, fa2_torch\""},
      {"fa2,fwd,1,2,,128,64,,,,tepid,", "\"l2 'tepid': legal are cold, warm\""},
      {"fa2,fwd,1,2,,128,64,1,bf16,auto,warm,a100-sxm4-80gb", ""},
  };
  std::string points = header + '\n';
  for (const auto& [row, reason] : rows) {
    points += row + '\n';
  }
  write_text(directory / "points.csv", points);
  const ProgramResult result = run_program(sweep({"-j", "2"}), directory.path());
  EXPECT_EQ(result.status, 3);
  EXPECT_EQ(result.err,
            "warpscope: 14 of 16 points could not be simulated; column model_error of out.csv says why\n");
  const std::vector<std::string> out = lines(file_text(directory / "out.csv"));
  ASSERT_EQ(out.size(), rows.size() + 1);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& [row, reason] = rows[i];
    if (reason.empty()) {
      EXPECT_TRUE(out[i + 1].starts_with(row + ',') && out[i + 1].ends_with(',')) << out[i + 1];
    } else {
      EXPECT_EQ(out[i + 1], fmt::format("{},,,,,,{}", row, reason));
    }
  }
}

struct BadFile {
  const char* name;
  std::string text;
  std::string message;
};

void PrintTo(const BadFile& file, std::ostream* stream) {
  *stream << file.name;
}

const BadFile kBadFiles[] = {
    {"misspelt", "casual,impl,pass,batch,heads,seqlen_q,head_dim\n",
     "points.csv:1: column 'casual' is unknown and looks like causal; give it that name, or one less alike"},
    {"misspelt_needed", "kernel,pass,batch,heads,seq_len,head_dim\n",
     "points.csv:1: column 'seq_len' is unknown and looks like seqlen; give it that name, or one less alike"},
    {"empty", "", "points.csv:1: the file is empty; a header line with the names of the columns is needed"},
    {"blank", "\n \n",
     "points.csv:1: the file is empty; a header line with the names of the columns is needed"},
    {"missing", "impl,pass,batch,heads,head_dim\n",
     "points.csv:1: column 'seqlen_q' (or 'seqlen') is missing; needed are kernel, pass, batch, heads, "
     "seqlen_q, head_dim"},
    {"duplicate", kHeader + ",batch\n",
     "points.csv:1: column 'batch' appears twice; each name is legal once"},
    {"unnamed", kHeader + ",,x\n", "points.csv:1: column 7 has no name"},
    {"two_names", kHeader + ",kernel\n", "points.csv:1: columns 'kernel' and 'impl' mean the same; keep one"},
    {"own_column", kHeader + ",model_cycles\n",
     "points.csv:1: column 'model_cycles' is one that the sweep adds; remove it"},
    {"short_row", kHeader + "\n\nfa2,fwd,1,2,128\n", "points.csv:3: 5 fields where the header has 6"},
    {"long_row", kHeader + "\nfa2,fwd,1,2,128,64,9\n", "points.csv:2: 7 fields where the header has 6"},
    {"open_quote", kHeader + "\nfa2,\"fwd,1,2,128,64\n",
     "points.csv:2: the quote that opens field 2 is never closed"},
    {"after_quote", kHeader + "\n\"fa2\"x,fwd,1,2,128,64\n",
     "points.csv:2: 'x' follows the closing quote of field 1; a comma or the end of the line is legal"},
};

class SweepFile : public testing::TestWithParam<BadFile> {};

TEST_P(SweepFile, IsRefusedWithFileAndLine) {
  const TemporaryDirectory directory;
  write_text(directory / "points.csv", GetParam().text);
  const ProgramResult result = run_program(sweep(), directory.path());
  EXPECT_EQ(result.status, 2);
  EXPECT_EQ(result.err, "warpscope: " + GetParam().message + '\n');
  EXPECT_EQ(directory.files(), std::vector<std::string>{"points.csv"});
}

INSTANTIATE_TEST_SUITE_P(BadFiles, SweepFile, testing::ValuesIn(kBadFiles),
                         [](const auto& parameter) { return std::string(parameter.param.name); });

TEST(CliSweep, KeepsAnOldOutputUntilTheNewOneIsWhole) {
  const TemporaryDirectory directory;
  write_text(directory / "out.csv", "old");
  write_text(directory / "points.csv", "impl\n");
  EXPECT_EQ(run_program(sweep(), directory.path()).status, 2);
  EXPECT_EQ(file_text(directory / "out.csv"), "old");
}

TEST(CliSweep, LeavesNothingWhereItCannotWrite) {
  const TemporaryDirectory directory;
  write_text(directory / "points.csv", kHeader + "\nfa2,fwd,1,2,128,64\n");
  std::filesystem::create_directory(directory / "out.csv");
  const ProgramResult result = run_program(sweep(), directory.path());
  EXPECT_EQ(result.status, 2);
  EXPECT_EQ(result.err, "warpscope: out.csv: is a directory\n");
  EXPECT_EQ(directory.files(), (std::vector<std::string>{"out.csv", "points.csv"}));
}

TEST(CliSweep, AHeaderAloneIsAnEmptySweep) {
  const TemporaryDirectory directory;
  write_text(directory / "points.csv", kHeader + "\n");
  EXPECT_EQ(run_program(sweep(), directory.path()).status, 0);
  EXPECT_EQ(file_text(directory / "out.csv"), kHeader + kAdded);
}

}  // namespace
}  // namespace warpscope::cli_test

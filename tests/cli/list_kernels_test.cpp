// `warpscope list kernels`: what each kernel takes, and how much of it stands in tables.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/cli/program.hpp"

namespace warpscope::cli_test {
namespace {

using Json = nlohmann::json;

ProgramResult list(Arguments more) {
  const TemporaryDirectory directory;
  more.insert(more.begin(), {"list", "kernels"});
  return run_program(more, directory.path());
}

Json entry(const Json& json, const std::string& name) {
  for (const Json& kernel : json["kernels"]) {
    if (kernel["name"] == name) {
      return kernel;
    }
  }
  return {};
}

double share(const Json& kernel, const std::string& pass, int head_dim, bool causal = false) {
  for (const Json& one : kernel["table_shares"]) {
    if (one["pass"] == pass && one["head_dim"] == head_dim && one["causal"] == causal) {
      return one["share"];
    }
  }
  return -1;
}

TEST(CliListKernels, SaysWhatEachTakes) {
  const Json json = Json::parse(list({"--json"}).out);
  EXPECT_EQ(json["gpu"], "h200-sxm-141gb");
  const Json fa2 = entry(json, "fa2");
  EXPECT_EQ(fa2["passes"], Json({"fwd", "bwd", "fwd+bwd"}));
  EXPECT_EQ(fa2["head_dims"]["fwd"].size(), 32U);  // 8 to 256 by 8
  EXPECT_EQ(fa2["head_dims"]["bwd"].back(), 256);
  EXPECT_EQ(fa2["masks"], Json({"none", "causal", "window (fwd)", "ALiBi (fwd)"}));
  EXPECT_EQ(fa2["dtypes"], Json({"fp16", "bf16"}));
  EXPECT_NE(fa2["build"].get<std::string>().find("0251105a"), std::string::npos);
  EXPECT_EQ(entry(json, "xformers")["head_dims"]["bwd"], Json({64, 128}));
  EXPECT_EQ(entry(json, "triton")["head_dims"]["fwd"], Json({16, 32, 64, 128}));
  EXPECT_EQ(entry(json, "fa2_kvcache")["head_dims"]["bwd"], Json::array());
  EXPECT_EQ(entry(json, "gemm")["masks"], Json::array());
}

// All instructions of row_softmax are its text's; of the others each build adds some.
TEST(CliListKernels, CountsWhatStandsInTables) {
  const Json json = Json::parse(list({"--json"}).out);
  EXPECT_EQ(share(entry(json, "row_softmax"), "fwd", 0), 0);
  for (const char* name : {"fa1", "fa2", "fa2_torch", "standard", "standard_eager", "xformers", "triton"}) {
    for (const char* pass : {"fwd", "bwd"}) {
      for (const int head_dim : {64, 128}) {
        const double of_tables = share(entry(json, name), pass, head_dim);
        EXPECT_GT(of_tables, 0.02) << name << pass << head_dim;
        EXPECT_LT(of_tables, 0.7) << name << pass << head_dim;
      }
    }
  }
  EXPECT_GT(share(entry(json, "fa2"), "fwd", 128, true), share(entry(json, "fa2"), "fwd", 128));
  EXPECT_EQ(share(entry(json, "fa2_kvcache"), "bwd", 64), -1);
  // wgmma products have no figures, those on mma.sync have.
  EXPECT_EQ(share(entry(json, "gemm"), "fwd", 64), 0);
  EXPECT_GT(share(entry(Json::parse(list({"--gpu", "a100-sxm4-80gb", "--json"}).out), "gemm"), "fwd", 64),
            0.1);
}

TEST(CliListKernels, FitsTheTerminalAndMarksHighShares) {
  const std::string text = list({}).out;
  EXPECT_LE(widest_line(text), 80U) << text;
  const std::size_t fa1 = text.find("\nfa1 ");
  ASSERT_NE(fa1, std::string::npos) << text;
  EXPECT_NE(text.substr(fa1, text.find('\n', fa1 + 1) - fa1).find('*'), std::string::npos) << text;
  const std::size_t softmax = text.find("\nrow_softmax ");
  EXPECT_NE(text.find("0.0 ", softmax), std::string::npos) << text;
  EXPECT_NE(text.find("  head dimensions 8 to 256 by 8 (bwd 64, 128); masks none, causal; fp16, bf16\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("4 heads of 2048 tokens"), std::string::npos) << text;
}

TEST(CliListKernels, HasMoreOfOne) {
  const ProgramResult one = list({"fa2"});
  EXPECT_EQ(one.status, 0) << one.err;
  EXPECT_LE(widest_line(one.out), 80U) << one.out;
  EXPECT_TRUE(one.out.starts_with("fa2: fwd, bwd, fwd+bwd\n")) << one.out;
  EXPECT_NE(one.out.find("  bwd        256 "), std::string::npos) << one.out;
  EXPECT_NE(share(Json::parse(list({"fa2", "--json"}).out)["kernels"][0], "bwd", 256, true), -1);
  const ProgramResult variant = list({"fa2+tile=64x64x4"});
  EXPECT_NE(variant.out.find("(bwd none)"), std::string::npos) << variant.out;
  const ProgramResult wrong = list({"fa9"});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_TRUE(wrong.err.starts_with("warpscope: list kernels 'fa9': legal are fa1, fa2, ")) << wrong.err;
}

}  // namespace
}  // namespace warpscope::cli_test

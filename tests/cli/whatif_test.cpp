// Changes of the GPU or the kernel: what they are worth, and when a difference is none.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "experiments/whatif/compare.hpp"
#include "experiments/whatif/resources.hpp"
#include "experiments/whatif/why.hpp"
#include "model/hw/config_loader.hpp"
#include "tests/cli/program.hpp"

namespace warpscope::experiments {
namespace {

using cli_test::ProgramResult;
using cli_test::run_program;

Ensemble ensemble(const std::vector<double>& times_us) {
  Ensemble result;
  for (const double time_us : times_us) {
    result.members.emplace_back().time_us = time_us;
  }
  return result;
}

TEST(WhatIf, DifferencesAreHeldAgainstChance) {
  const Difference certain = difference(ensemble({100, 101, 99, 100, 100}), ensemble({90, 91, 89, 90, 90}));
  EXPECT_NEAR(certain.share, -0.1, 1e-12);
  // Welch: both variances 0.5, so sqrt(0.2) us with 8 degrees of freedom, t = 2.306.
  EXPECT_NEAR(certain.plus_minus, 2.306 * std::sqrt(0.2) / 100, 1e-5);
  EXPECT_TRUE(certain.is_certain());
  const Difference chance = difference(ensemble({100, 110, 90, 95, 105}), ensemble({99, 109, 91, 93, 103}));
  EXPECT_NEAR(chance.share, -0.01, 1e-12);
  EXPECT_FALSE(chance.is_certain());
  const Difference none = difference(ensemble({5, 5, 5, 5, 5}), ensemble({5, 5, 5, 5, 5}));
  EXPECT_EQ(none.plus_minus, 0);
  EXPECT_FALSE(none.is_certain());
}

TEST(WhatIf, EachImprovementIsLegalOnEachGpu) {
  for (const std::string& gpu : hw::list_configs(config_directory())) {
    const hw::HwConfig config = hw::load(gpu, {}, config_directory()).config;
    std::set<std::string_view> resources;
    for (const Improvement& improvement : improvements(config)) {
      EXPECT_GE(improvement.factor, 1.0999) << gpu << ' ' << improvement.resource;
      EXPECT_TRUE(resources.insert(improvement.resource).second);
      EXPECT_NO_THROW(hw::load(gpu, improvement.changes, config_directory()))
          << gpu << ' ' << improvement.resource;
    }
    EXPECT_GE(resources.size(), 15U) << gpu;
  }
}

/// Without the line ends of sentences that did not fit the terminal.
std::string unbroken(std::string text) {
  const std::string line_end = "\n    ";
  for (std::size_t at = text.find(line_end); at != std::string::npos; at = text.find(line_end)) {
    text.replace(at, line_end.size(), " ");
  }
  return text;
}

TEST(WhatIf, TheLimiterIsWhatIsWorthMost) {
  const auto gain = [](const char* resource, double factor, double share, bool whole) {
    Gain result;
    result.improvement = {resource, {"a.key=1"}, factor, whole};
    result.time = {share, 0.005};
    return result;
  };
  const std::string text =
      unbroken(why_text({gain("SMs", 1.1, -0.09, true), gain("registers", 2, -0.09, false),
                         gain("MIO", 1.1, -0.01, false), gain("ALU lanes", 2, -0.004, false)}));
  EXPECT_NE(text.find("Limited by registers: 100 % more of it makes the kernel 9.0 % faster; next comes MIO: "
                      "10 % more of it makes the kernel 1.0 % faster.\n"),
            std::string::npos)
      << text;
  EXPECT_NEAR(gain("x", 1.21, 1 / 1.1 - 1, false).worth(), 0.5, 1e-12);
  EXPECT_NE(why_text({gain("ALU lanes", 2, -0.004, false)}).find("No single resource"), std::string::npos);
}

TEST(WhatIf, ComparesWhatDiffersMost) {
  Ensemble a = ensemble({100, 101, 99, 100, 100});
  Ensemble b = ensemble({80, 81, 79, 80, 80});
  for (Ensemble* side : {&a, &b}) {
    PointResult& result = side->members.front();
    const bool is_b = side == &b;
    result.busy = {{"tensor pipe", is_b ? 0.75 : 0.6}, {"L2", 0.3}};
    result.traffic = {{"Q", 100, 0, 100, 0, 0, 0}, {"O", 0, is_b ? 300U : 700U, 100, 0, 0, 0}};
    result.metrics["smsp__average_warps_issue_stalled_wait_per_issue_active.ratio"] = is_b ? 1.5 : 2;
    result.metrics["smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio"] = is_b ? 0.1 : 0.9;
  }
  const Comparison comparison = compare(a, b);
  std::vector<std::string> names;
  for (const ComparedNumber& number : comparison.numbers) {
    names.push_back(number.name);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"tensor pipe", "barrier", "wait", "O"}));
  const std::string text = unbroken(compare_text(comparison));
  EXPECT_NE(text.find("B is 20.0 % faster than A: the tensor pipe is 75.0 % busy instead of 60.0 %, and 0.10 "
                      "warps per issue wait for barrier instead of 0.90."),
            std::string::npos)
      << text;
  EXPECT_EQ(compare_json(comparison)["differences"].size(), 4U);
}

TEST(CliCompare, TellsSidesApart) {
  const cli_test::TemporaryDirectory directory;
  const auto compare_with = [&](const cli_test::Arguments& more) {
    cli_test::Arguments arguments = cli_test::small_run("fa2", more);
    arguments[0] = "compare";
    return run_program(arguments, directory.path());
  };
  const ProgramResult slower = compare_with({"--json", "-", "--", "--set", "sm.xu.lanes=4", "--causal"});
  ASSERT_EQ(slower.status, 0) << slower.err;
  const auto json = nlohmann::json::parse(slower.out);
  EXPECT_EQ(json["a"]["point"]["set"].size(), 0U);
  EXPECT_EQ(json["b"]["point"]["set"][0], "sm.xu.lanes=4");
  EXPECT_EQ(json["a"]["point"]["causal"], false);
  EXPECT_EQ(json["b"]["point"]["causal"], true);
  EXPECT_EQ(json["a"]["point"]["seqlen_q"], json["b"]["point"]["seqlen_q"]);
  const ProgramResult same = compare_with({"--require", "same", "--", "--set", "sm.max_ctas=16"});
  EXPECT_EQ(same.status, 0) << same.out;
  EXPECT_NE(same.out.find("No difference: +0.0 % ± 0.0"), std::string::npos) << same.out;
  EXPECT_EQ(compare_with({"--require", "faster", "--", "--set", "sm.max_ctas=16"}).status, 1);
  const ProgramResult nothing = compare_with({});
  EXPECT_EQ(nothing.status, 2);
  EXPECT_TRUE(nothing.err.starts_with("warpscope: compare: nothing is changed")) << nothing.err;
}

TEST(CliRun, WhyNamesEachResource) {
  const cli_test::TemporaryDirectory directory;
  const ProgramResult result =
      run_program(cli_test::small_run("fa2", {"--why", "--json", "-", "-j", "2"}), directory.path());
  ASSERT_EQ(result.status, 0) << result.err;
  const auto why = nlohmann::json::parse(result.out)["why"];
  ASSERT_GE(why.size(), 15U);
  EXPECT_GE(why.front()["worth"].get<double>(), why.back()["worth"].get<double>());
}

}  // namespace
}  // namespace warpscope::experiments

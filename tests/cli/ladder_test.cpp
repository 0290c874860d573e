// The ladder from made-up results: what is compared with what, and how it is told.
#include <gtest/gtest.h>

#include <algorithm>

#include "experiments/csv/csv.hpp"
#include "experiments/study/ladder.hpp"
#include "kernels/variants/changes.hpp"
#include "kernels/variants/variant.hpp"

namespace warpscope::experiments {
namespace {

using kernels::Pass;
using kernels::variants::read_options;

int changes_between(const std::string& a, const std::string& b, Pass pass = Pass::forward) {
  int count = 0;
  for (const kernels::variants::Change& change : kernels::variants::changes_of(pass)) {
    count += read_options(a).*change.option != read_options(b).*change.option ? 1 : 0;
  }
  return count;
}

/// Every case takes 1000 us less 50 us per step of the ladder; phases differ by 1 us.
class Ladder : public testing::Test {
 protected:
  Ladder() : cases_(ladder_cases()) {
    std::vector<StudyResult> results;
    for (const LadderCase& of : cases_) {
      const auto steps = static_cast<double>(std::ranges::count(of.point.kernel, '+'));
      for (int phase = 0; phase < of.phase_count; ++phase) {
        StudyResult result;
        result.result.time_us = 1000 - 50 * steps + phase;
        result.result.tflops = 100 + steps;
        result.result.metrics["sm__inst_executed.sum"] = 3e9;
        result.result.metrics["sm__inst_executed_pipe_tensor.sum"] = 1e9;
        results.push_back(result);
      }
    }
    take_results(cases_, results);
  }

  const LadderCase& find(std::string_view gpu, const std::string& variant, bool causal = false,
                         Pass pass = Pass::forward) const {
    return *std::ranges::find_if(cases_, [&](const LadderCase& of) {
      return of.gpu->name == gpu && of.variant == variant && of.pass() == pass &&
             of.point.problem.causal == causal && of.point.problem.seqlen_q == kSummarySeqlen;
    });
  }

  std::vector<LadderCase> cases_;
};

TEST(LadderSteps, ClimbFromFa1ToFa2OneChangeAtATime) {
  const std::vector<LadderStep> steps = ladder_steps(Pass::forward);
  ASSERT_EQ(steps.size(), 9U);
  EXPECT_EQ(steps[0].label, "Standard");
  EXPECT_EQ(steps[1].variant, "fa1");
  EXPECT_EQ(steps.back().variant, "fa2");
  for (std::size_t i = 2; i < steps.size(); ++i) {
    EXPECT_EQ(changes_between(steps[i - 1].variant, steps[i].variant), 1) << steps[i].variant;
  }
}

TEST(LadderSteps, ClimbTheBackwardPassFromFa1ToFa2OneChangeAtATime) {
  const std::vector<LadderStep> steps = ladder_steps(Pass::backward);
  ASSERT_EQ(steps.size(), 7U);
  EXPECT_EQ(steps.front().variant, "fa1");
  EXPECT_EQ(steps[1].label, "Whole dQ") << "the change split_q is another in this pass";
  EXPECT_EQ(steps[5].variant, "fa1+split_q+mask_at_edge+seq_parallel+cp_async+fa2_tile");
  EXPECT_EQ(steps.back().variant, "fa2");
  for (std::size_t i = 1; i < steps.size(); ++i) {
    EXPECT_EQ(changes_between(steps[i - 1].variant, steps[i].variant, Pass::backward), 1) << i;
    EXPECT_FALSE(steps[i].description.empty() || steps[i].relieves.empty()) << i;
  }
}

TEST(LadderSteps, SingleChangesDifferFromTheirBaseByOne) {
  for (const bool causal : {false, true}) {
    const std::vector<SingleChange> singles = single_changes(causal);
    EXPECT_EQ(singles.size(), causal ? 20U : 16U);
    for (const SingleChange& single : singles) {
      const std::string base = single.series == LadderSeries::alone_on_fa1 ? "fa1" : "fa2";
      EXPECT_EQ(changes_between(base, single.variant), 1) << single.variant;
      EXPECT_EQ(single.variant[3] == '+', single.is_gained) << single.variant;
    }
  }
}

TEST_F(Ladder, ComparesEachStepWithTheOneAbove) {
  const LadderCase& second = find("a100-sxm4-80gb", "fa1+split_q+q_stationary");
  ASSERT_TRUE(second.base.has_value());
  EXPECT_EQ(cases_[*second.base].variant, "fa1+split_q");
  const std::optional<Speedup> gained = speedup(cases_, second);
  ASSERT_TRUE(gained.has_value());
  EXPECT_NEAR(gained->factor, 951.0 / 901.0, 1e-12);
  ASSERT_TRUE(gained->plus_minus.has_value());
  EXPECT_GT(*gained->plus_minus, 0);
  EXPECT_TRUE(gained->is_certain());
  EXPECT_EQ(speedup(cases_, find("a100-sxm4-80gb", "standard")), std::nullopt);
}

TEST_F(Ladder, ComparesSingleChangesWithWhatLacksThem) {
  const LadderCase& alone = find("h100-sxm5-80gb", "fa1+deferred");
  EXPECT_EQ(cases_[*alone.base].variant, "fa1");
  EXPECT_NEAR(speedup(cases_, alone)->factor, 1001.0 / 951.0, 1e-12);
  // fa2-deferred takes as long as fa2, which has the change: nothing gained.
  const LadderCase& taken = find("h100-sxm5-80gb", "fa2-deferred");
  EXPECT_EQ(cases_[*taken.base].variant, "fa2");
  EXPECT_FALSE(speedup(cases_, taken)->is_certain());
}

TEST_F(Ladder, ComparesThePassesApart) {
  const LadderCase& second = find("h100-sxm5-80gb", "fa1+split_q+mask_at_edge", false, Pass::backward);
  ASSERT_TRUE(second.base.has_value());
  EXPECT_EQ(cases_[*second.base].variant, "fa1+split_q");
  EXPECT_EQ(cases_[*second.base].pass(), Pass::backward);
  EXPECT_EQ(second.phase_count, 1);
  EXPECT_EQ(speedup(cases_, second)->plus_minus, std::nullopt);
  EXPECT_EQ(find("h100-sxm5-80gb", "fa1", false, Pass::backward).base, std::nullopt);
  EXPECT_EQ(std::ranges::count(cases_, Pass::backward, &LadderCase::pass), 2 * 2 * 2 * 3 * 7);
  EXPECT_EQ(ladder_chart(*second.gpu, Pass::backward, cases_).panels[0].groups.back(), "+6");
  EXPECT_EQ(ladder_chart(*second.gpu, Pass::forward, cases_).panels[0].groups.back(), "+7");
}

TEST_F(Ladder, RunsKernelsThatAStepLeavesAsTheyAreOnce) {
  const std::string masked = "fa1+split_q+mask_at_edge";
  // 64 heads of d 128 do not fill 108 SMs, 128 of d 64 fill one wave of 132.
  const LadderCase& parallel = find("a100-sxm4-80gb", masked + "+seq_parallel", false, Pass::backward);
  EXPECT_EQ(parallel.same_as, masked);
  EXPECT_EQ(points_of(std::span(&parallel, 1)).front().kernel, masked);
  EXPECT_EQ(find("h100-sxm5-80gb", masked + "+seq_parallel", false, Pass::backward).same_as, "");
  // Under a causal mask every step of a CTA per key block is masked.
  EXPECT_EQ(find("a100-sxm4-80gb", masked, true, Pass::backward).same_as, "fa1+split_q");
  EXPECT_EQ(find("a100-sxm4-80gb", masked + "+seq_parallel", true, Pass::backward).same_as, "fa1+split_q");
}

TEST_F(Ladder, HasNoSpreadWherePhasesWereNotRun) {
  const LadderCase& causal = find("a100-sxm4-80gb", "fa1+split_q", true);
  EXPECT_EQ(causal.phase_count, 1);
  EXPECT_EQ(speedup(cases_, causal)->plus_minus, std::nullopt);
  EXPECT_NEAR(speedup(cases_, causal)->factor, 1000.0 / 950.0, 1e-12);
}

TEST_F(Ladder, CountsInstructionsPerScore) {
  // 2e9 warp instructions without HMMA; 4 x 16 x 4096 x 4096 scores, half of them under a causal mask.
  LadderCase of = find("a100-sxm4-80gb", "fa1+split_q");
  of.point.problem.heads = 16;
  const double scores = 4.0 * 16 * 4096 * 4096;
  EXPECT_NEAR(non_matmul_per_score(of), 32 * 2e9 / scores, 1e-9);
  of.point.problem.causal = true;
  EXPECT_NEAR(non_matmul_per_score(of), 32 * 2e9 / (scores / 2), 1e-9);
}

TEST_F(Ladder, TellsWhatItCounted) {
  const std::vector<std::string> sentences = ladder_sentences(cases_);
  ASSERT_EQ(sentences.size(), 12U + 6) << "forward five on each GPU, and one on FA1 that is no faster than "
                                          "standard; three of the backward pass";
  EXPECT_NE(sentences[12].find(", backward, d 128, 4096 tokens: FA2 is 1.00 times"), std::string::npos)
      << sentences[12];
  EXPECT_NE(sentences[14].find("a CTA for each block of keys a factor of 1.06"), std::string::npos)
      << sentences[14];
  EXPECT_NE(sentences[1].find("a factor of 1.06 ± 0.01"), std::string::npos) << sentences[1];
  EXPECT_NE(sentences[2].find("no measurable difference (1.000)"), std::string::npos) << sentences[2];
  const nlohmann::ordered_json json = ladder_json(cases_);
  EXPECT_EQ(json["rungs"].size(), 9U + 7);
  EXPECT_EQ(json["rungs"][9]["pass"], "bwd");
  EXPECT_EQ(json["points"].size(), cases_.size());
  const CsvTable table = parse_csv(ladder_csv(cases_), "ladder.csv");
  ASSERT_EQ(table.rows.size(), cases_.size());
  EXPECT_EQ(table.rows[1].fields[table.column("kernel")], "fa1");
}

TEST_F(Ladder, SaysWhatCouldNotBeSimulated) {
  for (LadderCase& of : cases_) {
    if (of.variant == "fa2-split_q") {
      of.phases.assign(1, {"too large", {}});
    }
  }
  const nlohmann::ordered_json json = ladder_json(cases_);
  const auto failed = std::ranges::find_if(
      json["points"], [](const nlohmann::ordered_json& point) { return point["error"] == "too large"; });
  ASSERT_NE(failed, json["points"].end());
  EXPECT_TRUE((*failed)["speedup"].is_null());
  EXPECT_NE(ladder_report(cases_).find("Each change by itself"), std::string::npos);
}

}  // namespace
}  // namespace warpscope::experiments

// Every word that the program prints has an entry in the glossary.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "experiments/base/usage_error.hpp"
#include "experiments/explain/glossary.hpp"
#include "experiments/report/utilisation.hpp"
#include "experiments/sweep/model_columns.hpp"
#include "experiments/whatif/resources.hpp"
#include "kernels/variants/changes.hpp"
#include "model/base/did_you_mean.hpp"
#include "model/hw/config_loader.hpp"
#include "model/trace/opcode.hpp"
#include "tests/cli/program.hpp"

namespace warpscope::experiments {
namespace {

void expect_entry(std::string_view word, std::string_view group) {
  try {
    EXPECT_EQ(explain(word).group->title, group) << word;
  } catch (const UsageError& error) {
    ADD_FAILURE() << error.what();
  }
}

TEST(Explain, KnowsAllStallReasonsAndTheirMetrics) {
  for (std::size_t i = 0; i < metrics::kStallReasons; ++i) {
    const std::string reason = metrics::name(static_cast<metrics::Stall>(i));
    expect_entry(reason, "Stall reasons");
    EXPECT_EQ(explain("smsp__average_warps_issue_stalled_" + reason + "_per_issue_active.ratio").entry->word,
              reason);
  }
  EXPECT_EQ(stall_entries().size(), metrics::kStallReasons);
}

TEST(Explain, KnowsAllChangesOfVariants) {
  for (const kernels::variants::Change& change : kernels::variants::all_changes()) {
    EXPECT_NO_THROW(explain(change.name)) << change.name;
  }
}

TEST(Explain, KnowsAllPipesAndResources) {
  for (const trace::OpcodeInfo& opcode : trace::all_opcodes()) {
    expect_entry(trace::name(opcode.pipe), "Pipes and other resources");
  }
  for (std::size_t i = 0; i < kResources; ++i) {
    expect_entry(name(static_cast<Resource>(i)), "Pipes and other resources");
  }
  expect_entry(limiter_name({}), "Pipes and other resources");
  for (const std::string& gpu : hw::list_configs(config_directory())) {
    for (const Improvement& improvement : improvements(hw::load(gpu, {}, config_directory()).config)) {
      expect_entry(improvement.resource, "What run --why changes");
    }
  }
}

TEST(Explain, KnowsAllMetricsAndColumns) {
  const cli_test::TemporaryDirectory directory;
  const auto run = cli_test::run_program(cli_test::small_run("fa1", {"--json", "-"}), directory.path());
  for (const auto& [metric, value] : nlohmann::json::parse(run.out)["metrics"].items()) {
    EXPECT_NO_THROW(explain(metric)) << metric;
  }
  for (const std::string_view column : kModelColumns) {
    expect_entry(column, "Metrics");
  }
  for (const char* word : {"tile", "split-Q", "sliced-K", "LSE", "deferred normalisation", "wave",
                           "occupancy", "wavefront", "sector", "TFLOP/s", "compulsory", "±", "split-KV"}) {
    EXPECT_NO_THROW(explain(word)) << word;
  }
}

int sentences(std::string_view text) {
  int count = text.ends_with('.') ? 1 : 0;
  for (std::size_t at = text.find(". "); at != std::string_view::npos; at = text.find(". ", at + 1)) {
    ++count;
  }
  return count;
}

TEST(Explain, NoNameHasTwoMeanings) {
  std::set<std::string> known;
  for (const GlossaryGroup& group : glossary()) {
    for (const GlossaryEntry& entry : group.entries) {
      for (const std::string& name : names(entry)) {
        EXPECT_TRUE(known.insert(base::letters_and_digits(name)).second) << name;
      }
      EXPECT_GE(sentences(entry.text), 2) << entry.word;
      EXPECT_LE(sentences(entry.text), 4) << entry.word;
      EXPECT_GE(entry.text.size(), 60U) << entry.word;
      EXPECT_TRUE(entry.text.ends_with('.')) << entry.word;
      EXPECT_EQ(entry.text.find("  "), std::string_view::npos) << entry.word;
    }
  }
}

TEST(CliExplain, ExplainsListsAndSuggests) {
  const cli_test::TemporaryDirectory directory;
  const auto program = [&](const cli_test::Arguments& arguments) {
    return cli_test::run_program(arguments, directory.path());
  };
  const auto one = program({"explain", "Long", "scoreboard"});
  EXPECT_EQ(one.status, 0) << one.err;
  EXPECT_TRUE(one.out.starts_with("Stall reasons: long_scoreboard\n\n  The warp waits for data")) << one.out;
  EXPECT_LE(cli_test::widest_line(one.out), 80U);
  const auto list = program({"explain"});
  EXPECT_NE(list.out.find("Stall reasons\n  selected, wait, long_scoreboard,"), std::string::npos)
      << list.out;
  EXPECT_LE(cli_test::widest_line(list.out), 80U) << list.out;
  EXPECT_EQ(program({"explain", "%"}).status, 2);
  const auto unknown = program({"explain", "long_scorebord"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_EQ(unknown.err,
            "warpscope: explain 'long_scorebord': unknown; did you mean long_scoreboard? `warpscope explain` "
            "lists the words\n");
  EXPECT_EQ(nlohmann::json::parse(program({"explain", "xu", "--json"}).out)["word"], "XU pipe");
  EXPECT_GT(nlohmann::json::parse(program({"explain", "--json"}).out).size(), 60U);
}

}  // namespace
}  // namespace warpscope::experiments

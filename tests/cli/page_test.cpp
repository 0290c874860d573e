// What pages say.
#include <gtest/gtest.h>

#include <algorithm>

#include "experiments/page/ladder_page.hpp"
#include "experiments/page/ladder_text.hpp"
#include "experiments/page/page.hpp"
#include "tests/cli/page_sample.hpp"

namespace warpscope::cli_test {
namespace {

bool contains(const std::vector<std::string>& texts, const std::string& part) {
  return std::ranges::any_of(texts,
                             [&](const std::string& text) { return text.find(part) != std::string::npos; });
}

TEST(Page, NothingInItsTextOrDataEndsAnElement) {
  experiments::Page page;
  page.title = "a <b> & 'c'";
  experiments::Chart chart("bars", "</script><script>alert(1)</script>",
                           {{"x", "x", experiments::Format::text}});
  chart.add_row(nlohmann::ordered_json::array({"</script>"}));
  page.sections.push_back({"s", "\"quoted\"", {"1 < 2"}, {chart}});
  const std::string html = experiments::html(page);
  EXPECT_NE(html.find("<h1>a &lt;b&gt; &amp; &#39;c&#39;</h1>"), std::string::npos);
  EXPECT_NE(html.find("<p>1 &lt; 2</p>"), std::string::npos);
  EXPECT_EQ(html.find("</script><script>alert"), std::string::npos);
  EXPECT_EQ(data_of(html)["charts"][0]["title"], "</script><script>alert(1)</script>");
}

TEST(Page, NeedsNothingFromElsewhere) {
  const std::string html = experiments::html(experiments::ladder_page(sample()));
  EXPECT_NE(html.find("default-src 'none'"), std::string::npos);
  for (const char* part : {" src=", "@import", "url("}) {
    EXPECT_EQ(html.find(part), std::string::npos) << part;
  }
  EXPECT_NE(html.find("Charts by D3 5."), std::string::npos);
  EXPECT_NE(html.find("Redistribution and use in source and binary forms"), std::string::npos);
}

TEST(Page, LadderSaysWhatEachStepDoes) {
  const experiments::Ladder ladder = sample();
  ASSERT_EQ(ladder.settings.size(), 3U);
  const experiments::LadderSetting& a100 = ladder.settings[1];
  const experiments::LadderSetting& h100 = ladder.settings[0];
  const std::string split = experiments::step_text(ladder, a100, 6);
  EXPECT_NE(
      split.find(
          "Warps share queries, not keys. Faster, from 1722.8 us to 1188.1 us (1.45 \u00b1 0.01 times as "
          "fast). Counted: barriers -60 %, shared-memory wavefronts -55 %, non-matmul instructions per "
          "score -31 %."),
      std::string::npos)
      << split;
  EXPECT_NE(experiments::step_text(ladder, a100, 4)
                .find("No measurable difference on the A100 80 GB (1.00 \u00b1 0.01"),
            std::string::npos);
  EXPECT_NE(experiments::step_text(ladder, ladder.settings[2], 7)
                .find("It does not help on the A100 80 GB: slower"),
            std::string::npos);
  EXPECT_NE(experiments::step_text(ladder, h100, 3).find("Not simulated: no room"), std::string::npos);
  EXPECT_EQ(h100.ladder[0].variant, "standard_eager");
  EXPECT_EQ(h100.ladder[0].label, "Standard attention");
  EXPECT_NE(experiments::step_text(ladder, h100, 7)
                .find("Less than 1 % of difference on the H100 (1.00 times as fast)"),
            std::string::npos)
      << experiments::step_text(ladder, h100, 7);
  const auto sentences = experiments::setting_sentences(a100);
  EXPECT_TRUE(contains(sentences,
                       "On the A100 80 GB FA2 takes 1028.7 us and FA1 2900.0 us: FA2 is 2.82 times as fast"))
      << sentences.front();
  EXPECT_TRUE(contains(
      sentences, "What wins most on the way from FA1: Q stationary (1.50 times as fast), then Split-Q"));
  EXPECT_TRUE(contains(
      sentences,
      "No difference here that is larger than chance, or than 1 %: Log-sum-exp, Mask where it cuts."));
  EXPECT_FALSE(contains(sentences, "FA1 is slower than standard"));
  EXPECT_TRUE(contains(experiments::setting_sentences(h100), "FA1 is slower than standard attention"));
}

}  // namespace
}  // namespace warpscope::cli_test

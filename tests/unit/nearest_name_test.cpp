// Which name a message suggests for a misspelt one.
#include "model/base/nearest_name.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "model/base/did_you_mean.hpp"

namespace warpscope::base {
namespace {

TEST(EditDistance, CountsSingleEdits) {
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("abc", ""), 3U);
  EXPECT_EQ(edit_distance("lanes", "lanes"), 0U);
}

TEST(EditDistance, CountsASwapOfNeighboursAsOne) {
  EXPECT_EQ(edit_distance("rnu", "run"), 1U);
  EXPECT_EQ(edit_distance("casual", "causal"), 1U);
  EXPECT_EQ(edit_distance("abcd", "badc"), 2U);
  EXPECT_EQ(edit_distance("ca", "abc"), 3U) << "no edit inside a swapped pair";
}

TEST(EditDistance, IgnoresLetterCase) {
  EXPECT_EQ(edit_distance("ffma", "FFMA"), 0U);
}

TEST(EditDistance, ComparesTheFirst64Characters) {
  const std::string longest(64, 'a');
  EXPECT_EQ(edit_distance(longest + "bcd", longest), 0U);
  EXPECT_EQ(edit_distance(longest, longest + std::string(1'000'000, 'b')), 0U);
  EXPECT_EQ(edit_distance(longest.substr(1) + "b", longest), 1U);
}

TEST(NearestName, IsTheFirstOfTheLeastEdited) {
  struct Row {
    int number;
    std::string_view name;
  };
  constexpr std::array kTable = {Row{1, "lanes"}, Row{2, "latency"}, Row{3, "lines"}};
  EXPECT_EQ(nearest_name("latncy", kTable, &Row::name), "latency");
  EXPECT_EQ(nearest_name("lnes", kTable, &Row::name), "lanes") << "lines is as near";
}

TEST(DidYouMean, NamesAllThatBeginSo) {
  const std::vector<std::string> gpus = {"a100-pcie-80gb", "h100-pcie-80gb", "h100-sxm5-80gb",
                                         "h200-sxm-141gb"};
  EXPECT_EQ(did_you_mean("h100", gpus), "did you mean h100-pcie-80gb or h100-sxm5-80gb? ");
  EXPECT_EQ(did_you_mean("H200SXM", gpus), "did you mean h200-sxm-141gb? ");
  EXPECT_EQ(did_you_mean("h100-sxm-80gb", gpus), "did you mean h100-sxm5-80gb? ");
  EXPECT_EQ(did_you_mean("v100", gpus), "");
  EXPECT_EQ(did_you_mean("h", gpus), "") << "one letter says too little";
  const std::vector<std::string> flags = {"--seqlen", "--seqlen-k", "--heads", "--head-dim", "-j"};
  EXPECT_EQ(did_you_mean("--seq-len", flags), "did you mean --seqlen? ");
  EXPECT_EQ(did_you_mean("--head", flags), "did you mean --heads or --head-dim? ");
  EXPECT_EQ(did_you_mean("--seq", flags), "did you mean --seqlen or --seqlen-k? ");
  EXPECT_EQ(did_you_mean("x", {}), "");
}

}  // namespace
}  // namespace warpscope::base

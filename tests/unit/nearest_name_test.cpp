// Which name a message suggests for a misspelt one.
#include "model/base/nearest_name.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace warpscope::base {
namespace {

TEST(EditDistance, CountsSingleEdits) {
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("abc", ""), 3U);
  EXPECT_EQ(edit_distance("lanes", "lanes"), 0U);
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

}  // namespace
}  // namespace warpscope::base

// Sentences broken into lines.
#include "experiments/base/wrapped_text.hpp"

#include <gtest/gtest.h>

#include "experiments/base/text_table.hpp"

namespace warpscope::experiments {
namespace {

TEST(WrappedText, BreaksBetweenWordsAndIndents) {
  EXPECT_EQ(wrapped("one two three", "", 7), "one two\nthree\n");
  EXPECT_EQ(wrapped("one two three", "- ", 9), "- one two\n  three\n");
  EXPECT_EQ(wrapped("aa bb", "", 5), "aa bb\n");
  EXPECT_EQ(wrapped("aa bb", "", 4), "aa\nbb\n");
  EXPECT_EQ(wrapped("", "x: "), "x: \n");
}

TEST(WrappedText, LongWordsStayWholeAndLineEndsStay) {
  EXPECT_EQ(wrapped("a muchtoolong b", "", 5), "a\nmuchtoolong\nb\n");
  EXPECT_EQ(wrapped("one\ntwo three", "  ", 7), "  one\n  two\n  three\n");
  EXPECT_EQ(wrapped("äöü äöü", "", 7), "äöü äöü\n") << "columns, not bytes";
}

TEST(WrappedText, OnlyLongLinesAreFitted) {
  EXPECT_EQ(fitted("a  b\n  one two three\n", 10), "a  b\n  one two\n    three\n");
  EXPECT_EQ(fitted("  one two three four\n", 12), "  one two\n    three\n    four\n");
  EXPECT_EQ(fitted("", 10), "");
}

TEST(TextTable, BreaksSentencesInTheLastColumn) {
  TextTable table({{"name", TextTable::Align::left}, {"n"}, {"meaning", TextTable::Align::left}});
  std::string words = "word";
  for (int i = 0; i < 16; ++i) {
    words += " word";
  }
  table.add_row({"a", "12", words});
  EXPECT_EQ(table.text(""),
            "name   n  meaning\n"
            "a     12  word word word word word word word word word word word word word word\n"
            "          word word word\n");
}

}  // namespace
}  // namespace warpscope::experiments

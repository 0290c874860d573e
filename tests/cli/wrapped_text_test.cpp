// Sentences broken into lines.
#include "experiments/base/wrapped_text.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace warpscope::experiments

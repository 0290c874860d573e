#include "experiments/csv/csv.hpp"

#include <gtest/gtest.h>

#include <random>

#include "experiments/base/usage_error.hpp"

namespace warpscope::experiments {
namespace {

std::string error_of(const std::string& text) {
  try {
    parse_csv(text, "f");
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(Csv, ReadsFieldsAndKeepsTheText) {
  const CsvTable table = parse_csv("a,b\r\n\"x\"\"y\",\" 1,\n2\"\r\n,\n", "f");
  EXPECT_EQ(table.header.fields, (std::vector<std::string>{"a", "b"}));
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(table.rows[0].fields, (std::vector<std::string>{"x\"y", " 1,\n2"}));
  EXPECT_EQ(table.rows[0].text, "\"x\"\"y\",\" 1,\n2\"");
  EXPECT_EQ(table.rows[1].fields, (std::vector<std::string>{"", ""}));
  EXPECT_EQ(table.rows[1].line, 4U);
}

TEST(Csv, FindsColumnsByName) {
  const CsvTable table = parse_csv(
      "\xef\xbb\xbf"
      "a, b \n",
      "f");
  EXPECT_EQ(table.column("a"), 0U);
  EXPECT_EQ(table.column("b"), 1U);
  EXPECT_EQ(table.column("c"), CsvTable::kNoColumn);
}

TEST(Csv, ALoneCarriageReturnIsText) {
  EXPECT_EQ(parse_csv("a\rb,c\n", "f").header.fields.front(), "a\rb");
}

TEST(Csv, QuotesFieldsThatNeedIt) {
  EXPECT_EQ(csv_field("plain text"), "plain text");
  EXPECT_EQ(csv_field("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_field("say \"x\""), "\"say \"\"x\"\"\"");
}

TEST(Csv, NamesLineAndMistake) {
  EXPECT_EQ(error_of("a,b\n1,2\n1\n"), "f:3: 1 fields where the header has 2");
  EXPECT_EQ(error_of("a,b\n1,2\"3\n").substr(0, 4), "f:2:");
  EXPECT_EQ(error_of("a,b\n1,\"2\n\n\n"), "f:2: the quote that opens field 2 is never closed");
}

// Whatever bytes come in: a table whose rows all have as many fields as the header, or a UsageError.
TEST(Csv, SurvivesDamagedFiles) {
  const std::string whole =
      "kernel,pass,note\r\nfa2,fwd,\"a, \"\"b\"\"\nc\"\r\nfa1,fwd,\n\n\"x\",\"\",\"\"\n";
  constexpr std::string_view kAlphabet = "\",\r\n ax\0\xff";
  std::mt19937 random(20);
  for (int round = 0; round < 20000; ++round) {
    std::string text = whole;
    for (unsigned edit = 0; edit <= random() % 4; ++edit) {
      text += text.empty() ? "a" : "";
      const std::size_t at = random() % text.size();
      const char symbol = kAlphabet[random() % kAlphabet.size()];
      switch (random() % 4) {
        case 0:
          text[at] = symbol;
          break;
        case 1:
          text.insert(at, 1, symbol);
          break;
        case 2:
          text.erase(at, 1 + random() % 5);
          break;
        default:
          text.resize(at + 1);
      }
    }
    try {
      const CsvTable table = parse_csv(text, "f");
      for (const CsvRecord& row : table.rows) {
        ASSERT_EQ(row.fields.size(), table.header.fields.size());
        // The text of a row means the same fields again.
        ASSERT_EQ(parse_csv(table.header.text + '\n' + row.text, "f").rows.at(0).fields, row.fields);
      }
    } catch (const UsageError& error) {
      ASSERT_TRUE(std::string_view(error.what()).starts_with("f:")) << error.what();
    }
  }
}

}  // namespace
}  // namespace warpscope::experiments

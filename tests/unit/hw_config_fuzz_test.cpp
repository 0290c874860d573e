// Damaged descriptions load or are refused with a ConfigError; nothing else may happen.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "model/hw/config_text.hpp"
#include "tests/unit/hw_test_support.hpp"

namespace warpscope::hw {
namespace {

/// Damages `text` in one to four places.
std::string damage(std::string text, std::mt19937& random) {
  // Pieces that mean something in TOML reach further into the parser than random bytes do.
  static constexpr std::string_view pieces[] = {"[",
                                                "]",
                                                "[[",
                                                "\"",
                                                "'",
                                                "\"\"\"",
                                                "=",
                                                ".",
                                                "{",
                                                "}",
                                                "-",
                                                "1e99",
                                                "0x",
                                                "\n",
                                                "#",
                                                "\\u",
                                                ",",
                                                "inf",
                                                "nan",
                                                "1979-05-27T07:32:00Z",
                                                "base = \"x\"\n",
                                                "_",
                                                "9999999999999999999"};
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random()) % n; };
  for (std::size_t edits = 1 + below(4); edits > 0 && !text.empty(); --edits) {
    const std::size_t at = below(text.size());
    switch (below(4)) {
      case 0:
        text[at] = static_cast<char>(below(256));
        break;
      case 1:
        text.erase(at, 1 + below(8));
        break;
      case 2:
        text.insert(at, pieces[below(std::size(pieces))]);
        break;
      default:
        text.insert(at, text.substr(below(text.size()), below(40)));
    }
  }
  return text;
}

TEST(ConfigFuzz, DamagedFilesLoadOrThrowConfigError) {
  const test::ConfigFolder folder;
  const std::string compact = test::complete_text();
  const std::string shipped = test::read_text(test::shipped_dir / (test::complete_name + ".toml"));
  std::mt19937 random(20);  // any seed does, a fixed one makes failures repeat
  int loaded = 0;
  int refused = 0;
  for (int run = 0; run < 5000; ++run) {
    const std::string text = damage(run % 8 == 0 ? shipped : compact, random);
    folder.write("damaged", text);
    try {
      load("damaged", {}, folder.dir());
      ++loaded;
    } catch (const ConfigError& error) {
      ++refused;
      for (const std::string& line : error.problems()) {
        ASSERT_FALSE(line.empty()) << text;
        ASSERT_EQ(line.find('\n'), std::string::npos) << line;
      }
    }
  }
  EXPECT_GT(loaded, 100);
  EXPECT_GT(refused, 100);
}

TEST(ConfigFuzz, DamagedOverridesLoadOrThrowConfigError) {
  std::mt19937 random(21);
  for (int run = 0; run < 2000; ++run) {
    const std::vector<std::string> overrides{damage("sm.xu.lanes=16", random)};
    try {
      load(test::complete_name, overrides, test::shipped_dir);
    } catch (const ConfigError& error) {
      ASSERT_EQ(error.problems().size(), 1U) << error.what();
    }
  }
}

TEST(ConfigFuzz, DeepNestingIsRefused) {
  std::vector<std::string> problems;
  EXPECT_FALSE(parse_config_text("x = " + std::string(100000, '['), "deep.toml", problems));
  EXPECT_EQ(problems.size(), 1U);
}

std::string repeated(std::string_view piece, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) {
    text += piece;
  }
  return text;
}

/// What is answered to a document, one line; "parsed" if nothing.
std::string answer_to(const std::string& text) {
  std::vector<std::string> problems;
  const bool parsed = parse_config_text(text, "f", problems).has_value();
  return parsed && problems.empty() ? "parsed" : problems.empty() ? "nothing" : problems[0];
}

// The parser calls itself for each level, down to the end of the stack.
TEST(ConfigFuzz, NestingOfAnyKindIsRefusedBeforeParsing) {
  const std::string dots = "f:2: a key with more than 16 dots; legal is at most that";
  const std::string brackets = "f:2: more than 16 brackets inside one another; legal is at most that";
  constexpr int kMany = 30000;
  EXPECT_EQ(answer_to(fmt::format("\na{} = 1", repeated(".a", kMany))), dots);
  EXPECT_EQ(answer_to(fmt::format("\na{} = 1", repeated(" . 'a'", kMany))), dots);
  EXPECT_EQ(answer_to(fmt::format("\n[a{}]", repeated(".a", kMany))), dots);
  EXPECT_EQ(answer_to(fmt::format("\n[[a{}]]", repeated(".\"a\"", kMany))), dots);
  EXPECT_EQ(answer_to(fmt::format("\nx = {{b = \"\"\"c\"\"\"\"\", a{} = 1}}", repeated(".a", kMany))), dots);
  for (const std::string_view piece : {"[", "{", "{a=", "{a.b=["}) {
    EXPECT_EQ(answer_to(fmt::format("\nx = {}", repeated(piece, kMany))), brackets) << piece;
  }
}

TEST(ConfigFuzz, DotsAndBracketsOfStringsAndCommentsAreNoNesting) {
  const std::string many = repeated(".[{", 10000);
  EXPECT_EQ(answer_to(fmt::format("# {0}\nx = 1 # {0}\n", many)), "parsed");
  EXPECT_EQ(answer_to(fmt::format("x = \"{0}\\\"{0}\"\n'{0}' = '{0}\\'\n", many)), "parsed");
  EXPECT_EQ(answer_to(fmt::format("x = \"\"\"{0}\n\"\"{0}\"\"\"\n", many)), "parsed");
  EXPECT_EQ(answer_to(fmt::format("y = '''{0}\n'{0}'''\n", many)), "parsed");
  EXPECT_EQ(answer_to(fmt::format("x = [{}2.5]\n{}", repeated("1.5, ", 1000), repeated("[[a]]\n", 1000))),
            "parsed");
  EXPECT_EQ(answer_to(fmt::format("a{} = 1\n", repeated(".a", 16))), "parsed");
}

}  // namespace
}  // namespace warpscope::hw

// Damaged descriptions load or are refused with a ConfigError; nothing else may happen.
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

}  // namespace
}  // namespace warpscope::hw

// Damaged trace files are refused with a TraceError or read as something valid; nothing else may happen.
#include <gtest/gtest.h>

#include <sstream>

#include "model/trace/text_reader.hpp"
#include "model/trace/text_writer.hpp"
#include "tests/unit/trace_random.hpp"

namespace warpscope::trace {
namespace {

constexpr std::string_view kTokens[] = {"{",
                                        "}",
                                        "[",
                                        "]",
                                        "-1",
                                        "99999999999999999999",
                                        "*4000000000",
                                        "loop n=slot0 {",
                                        "EXIT",
                                        "BRA",
                                        "0..4000000000",
                                        "\"",
                                        "\\",
                                        "@0",
                                        "@9",
                                        "\n",
                                        "#",
                                        "i2",
                                        "sym0",
                                        "-9223372036854775808",
                                        "R4096",
                                        "P15:2",
                                        "class",
                                        "program",
                                        "end",
                                        ","};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream input(text);
  for (std::string line; std::getline(input, line);) {
    lines.push_back(line);
  }
  return lines;
}

std::string damage_lines(const std::string& text, Random& random) {
  std::vector<std::string> lines = lines_of(text);
  const auto line = [&] { return static_cast<std::ptrdiff_t>(random.between(0, std::ssize(lines) - 1)); };
  switch (random.between(0, 3)) {
    case 0:
      lines.erase(lines.begin() + line());
      break;
    case 1:
      lines.insert(lines.begin() + line(), lines[static_cast<std::size_t>(line())]);
      break;
    case 2:
      std::swap(lines[static_cast<std::size_t>(line())], lines[static_cast<std::size_t>(line())]);
      break;
    default:
      lines.resize(static_cast<std::size_t>(line()) + 1);
  }
  std::string result;
  for (const std::string& kept : lines) {
    result += kept + '\n';
  }
  return result;
}

std::string damage_bytes(std::string text, Random& random) {
  const auto at = static_cast<std::size_t>(random.between(0, std::ssize(text) - 1));
  switch (random.between(0, 3)) {
    case 0:
      text[at] = static_cast<char>(random.between(-128, 127));
      break;
    case 1:
      text.erase(at, static_cast<std::size_t>(random.between(1, 6)));
      break;
    case 2:
      text.insert(at, kTokens[static_cast<std::size_t>(random.between(0, std::ssize(kTokens) - 1))]);
      break;
    default:
      text.resize(at);
  }
  return text;
}

TEST(TraceFuzz, DamagedTextNeverDoesWorseThanATraceError) {
  Random random(20);
  std::vector<std::string> originals;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    originals.push_back(to_text(random_trace(seed)));
  }
  int accepted = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string text = originals[static_cast<std::size_t>(round) % originals.size()];
    for (std::int64_t n = random.between(1, 3); n > 0 && !text.empty(); --n) {
      text = random.one_in(3) ? damage_lines(text, random) : damage_bytes(std::move(text), random);
    }
    std::istringstream input(text);
    try {
      const Trace trace = read_text(input, "fuzz");
      ++accepted;
      std::istringstream again(to_text(trace));
      ASSERT_EQ(read_text(again, "again"), trace) << text;
    } catch (const TraceError& error) {
      const std::string_view message = error.what();
      ASSERT_TRUE(message.starts_with("fuzz:")) << message;
      ASSERT_EQ(message.find('\n'), std::string_view::npos) << message;
    }
  }
  EXPECT_GT(accepted, 500);  // otherwise the damage never gets past the first checks
}

TEST(TraceFuzz, ShortFilesCannotAskForMuchMemory) {
  std::string text = "warpscope_trace 1\nlaunch l {\n grid 4000000000 1 1\n";
  for (int i = 0; i < 100; ++i) {
    text += " class_x 0*4000000000\n class_y 0..4294967295\n class_z 7*16777216\n";
  }
  std::istringstream input(text);
  EXPECT_THROW(read_text(input, "fuzz"), TraceError);
  std::istringstream endless_line("warpscope_trace 1" + std::string(std::size_t{5} << 20, ' '));
  EXPECT_THROW(read_text(endless_line, "fuzz"), TraceError);
}

}  // namespace
}  // namespace warpscope::trace

// When a warp whose scoreboard was set gets the tensor pipe beside another, on the model and on an H200.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/csv/csv.hpp"
#include "model/hw/config_loader.hpp"
#include "tests/support/core_bench.hpp"

namespace warpscope::validation {
namespace {

const std::string kSource = WARPSCOPE_SOURCE_DIR;

struct Kind {
  std::string_view name;
  trace::Opcode opcode;
  std::uint32_t shared_bytes = 0;
};
constexpr std::array kKinds = {
    Kind{"MUFU", trace::Opcode::MUFU_EX2},  Kind{"LDSM", trace::Opcode::LDSM_X4, 512},
    Kind{"SHFL", trace::Opcode::SHFL_BFLY}, Kind{"HMMA.a", trace::Opcode::HMMA_16816_F32},
    Kind{"CLOCK", trace::Opcode::CS2R},     Kind{"NOP", trace::Opcode::NOP}};

/// The number behind `mark`, or `otherwise` where it is not there.
int number_behind(const std::string& text, const std::string& mark, int otherwise) {
  const std::size_t at = text.find(mark);
  return at == std::string::npos ? otherwise : std::stoi(text.substr(at + mark.size()));
}

/// Adds "MUFU:4/sets1 NOP:1*3 HMMA.a:6/waits1", as scoreboard_waits.md has it.
void append(test::Program& program, const std::string& stream) {
  std::istringstream words(stream);
  for (std::string word; words >> word;) {
    const auto* const kind = std::ranges::find(kKinds, word.substr(0, word.find(':')), &Kind::name);
    ASSERT_NE(kind, kKinds.end()) << word;
    for (int i = number_behind(word, "*", 1); i > 0; --i) {
      program.op(kind->opcode).stall(static_cast<std::uint8_t>(number_behind(word, ":", 1)));
      if (kind->shared_bytes > 0) {
        program.shared(kind->shared_bytes, static_cast<std::uint16_t>(kind->shared_bytes / 128));
      }
      if (const int board = number_behind(word, "/sets", -1); board >= 0) {
        program.sets(static_cast<std::uint8_t>(board));
      }
      if (const int board = number_behind(word, "/waits", -1); board >= 0) {
        program.waits_for(static_cast<std::uint8_t>(board));
      }
    }
  }
}

/// Whether the older of two warps of a sub-core ends behind the younger one, which has nothing but HMMAs.
bool is_held_back(const hw::HwConfig& config, const std::string& older, const std::string& younger) {
  constexpr int kProducts = 190;
  test::Program first;
  first.op(trace::Opcode::NOP).stall(12);  // when the younger one's HMMAs follow each other
  append(first, older);
  test::Program second;
  append(second, younger.substr(0, younger.find(' ')) + fmt::format("*{}", kProducts));
  trace::Launch launch = test::one_warp_each({first.exit().build(), second.exit().build()});
  launch.threads_per_cta = 32;
  launch.programs.push_back(test::Program().exit().build());
  launch.classes = {{{0}, {}, {}}, {{1}, {}, {}}, {{2}, {}, {}}};
  launch.grid[0] = 5;
  launch.class_of_block[0] = {0, 2, 2, 2, 1};
  test::CoreBench bench(config, launch, 5);
  bench.run();
  return bench.end_of(0) > bench.end_of(4);
}

TEST(ScoreboardWaits, HoldWarpsBackAsOnHardware) {
  const hw::HwConfig config = hw::load("h200-sxm-141gb", {}, kSource + "/hwconfigs").config;
  const experiments::CsvTable table =
      experiments::read_csv(kSource + "/experiments/reference/measured-h200/scoreboard_waits.csv");
  int rows = 0;
  int alike = 0;
  for (const experiments::CsvRecord& row : table.rows) {
    const double share = std::stod(row.fields.at(table.column("held_back_share")));
    if (share > 0.1 && share < 0.9) {
      continue;  // near the moment in which the scoreboard clears
    }
    const std::string& older = row.fields.at(table.column("older"));
    const bool held_back = is_held_back(config, older, row.fields.at(table.column("younger")));
    ++rows;
    alike += held_back == (share > 0.5) ? 1 : 0;
    if (held_back != (share > 0.5)) {
      fmt::print("{}: {} on the model, {} on hardware\n", older.substr(0, 60), held_back, share);
    }
  }
  fmt::print("{} of {} rows alike\n", alike, rows);
  EXPECT_GT(rows, 80);
  EXPECT_GE(alike, rows * 19 / 20);
}

}  // namespace
}  // namespace warpscope::validation

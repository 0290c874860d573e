// How far apart memory instructions stand in FlashAttention-2's main loops, against PyTorch's machine code
// (experiments/reference/machine-code/pytorch_memory_intervals.csv).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "experiments/csv/csv.hpp"
#include "tests/support/main_loop.hpp"

namespace warpscope::tests {
namespace {

using trace::Opcode;

bool is_load(const trace::Instruction& instruction) {
  return instruction.opcode == Opcode::LDSM_X4 || instruction.opcode == Opcode::LDSM_T_X4;
}

/// The stall count most frequent on an LDSM that another one follows.
int interval(const std::vector<trace::Instruction>& loop) {
  std::map<int, int> stall_counts;
  for (std::size_t i = 0; i + 1 < loop.size(); ++i) {
    if (is_load(loop[i]) && is_load(loop[i + 1])) {
      ++stall_counts[loop[i].control.stall_cycles];
    }
  }
  return std::ranges::max_element(stall_counts, {}, &std::pair<const int, int>::second)->first;
}

TEST(MemoryIntervals, AreThoseOfMachineCode) {
  const experiments::CsvTable table = experiments::read_csv(
      WARPSCOPE_SOURCE_DIR "/experiments/reference/machine-code/pytorch_memory_intervals.csv");
  // The tiles that the library launches on this GPU.
  const std::map<std::string, std::string> tiles = {{"32", "128x128"}, {"64", "128x128"}, {"96", "128x64"},
                                                    {"128", "128x64"}, {"192", "128x64"}, {"256", "128x64"}};
  int same = 0;
  int rows = 0;
  for (const experiments::CsvRecord& record : table.rows) {
    const auto field = [&](const char* column) { return record.fields.at(table.column(column)); };
    if (field("pass") == "fwd" && field("block") == "0" && field("tile") == tiles.at(field("head_dim"))) {
      const std::int64_t tokens = field("bounds") == "none checked" ? 4096 : 4000;
      const int ours = interval(main_loop(std::stoi(field("head_dim")), field("causal") == "1", tokens));
      same += ours == std::stoi(field("interval")) ? 1 : 0;
      ++rows;
    }
  }
  EXPECT_EQ(rows, 20);
  // At 64 the machine code differs between builds with more and fewer spills, 5, 6 and 8 cycles.
  EXPECT_GE(same, 17);
}

}  // namespace
}  // namespace warpscope::tests

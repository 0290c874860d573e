// What FlashAttention-2's main loops fetch from local memory for an instruction that waits, against machine
// code (experiments/reference/machine-code/reloads.csv).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "experiments/csv/csv.hpp"
#include "kernels/compiler/opcode_kinds.hpp"
#include "tests/support/main_loop.hpp"

namespace warpscope::tests {
namespace {

using trace::Instruction;
using trace::Opcode;

struct Reloads {
  int row_sums = 0;
  int exponentials = 0;
  std::vector<int> cycles;  ///< stall counts from a load to the first instruction that reads the value
};

Reloads reloads(const std::vector<Instruction>& loop) {
  Reloads result;
  for (std::size_t load = 0; load < loop.size(); ++load) {
    if (!kernels::is_reload(loop[load])) {
      continue;
    }
    int cycles = 0;
    for (std::size_t i = load + 1; i < loop.size(); ++i) {
      cycles += loop[i - 1].control.stall_cycles;
      if (std::ranges::any_of(loop[i].sources, [&](const trace::RegisterRange& source) {
            return source.count > 0 && source.first == loop[load].destination.first;
          })) {
        ++(loop[i].opcode == Opcode::FFMA ? result.row_sums : result.exponentials);
        result.cycles.push_back(cycles);
        break;
      }
    }
  }
  std::ranges::sort(result.cycles);
  return result;
}

TEST(Reloads, AreThoseOfMachineCode) {
  const experiments::CsvTable table =
      experiments::read_csv(WARPSCOPE_SOURCE_DIR "/experiments/reference/machine-code/reloads.csv");
  int compared = 0;
  int timed = 0;
  double error = 0;
  for (const experiments::CsvRecord& row : table.rows) {
    const auto field = [&](const char* column) { return row.fields.at(table.column(column)); };
    const std::vector<Instruction> loop = main_loop(
        std::stoi(field("head_dim")), field("causal") == "1", field("even_lengths") == "1" ? 2048 : 2049,
        field("build") == "pytorch" ? "fa2_torch" : "fa2", field("target") == "sm_80" ? kA100 : kH200);
    // Of tiles that the library keeps for other GPUs there is nothing to compare.
    if (std::ranges::count(loop, Opcode::HMMA_16816_F32, &Instruction::opcode) != std::stoi(field("hmmas"))) {
      continue;
    }
    ++compared;
    const Reloads ours = reloads(loop);
    EXPECT_EQ(ours.row_sums, std::stoi(field("row_sums"))) << "line " << row.line;
    EXPECT_EQ(ours.exponentials, std::stoi(field("exponentials"))) << "line " << row.line;
    if (ours.exponentials > 0) {
      ++timed;
      const int median_cycles = ours.cycles[ours.cycles.size() / 2];
      error += std::abs(median_cycles / std::stod(field("median_cycles")) - 1);
    }
  }
  EXPECT_EQ(compared, 33);
  ASSERT_EQ(timed, 4);
  EXPECT_LT(error / timed, 0.12);
  RecordProperty("mean_error", std::to_string(error / timed));
}

}  // namespace
}  // namespace warpscope::tests

// Loops of PyTorch's FlashAttention-2 whose copies check columns, as the head has fewer than the tile,
// against its machine code (experiments/reference/measured-h200/checked_columns.csv).
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "experiments/csv/csv.hpp"
#include "kernels/compiler/opcode_kinds.hpp"
#include "kernels/kernel.hpp"
#include "tests/support/gpu_limits.hpp"

namespace warpscope::tests {
namespace {

using trace::Instruction;
using trace::Opcode;

/// The loop over key blocks that no mask cuts: in front of the last one's text, which leaves out copies of K.
std::vector<Instruction> loop_of(std::int64_t head_dim, bool causal, std::int64_t tokens) {
  const trace::Trace built =
      kernels::find_kernel("fa2_torch").build({1, 8, 8, tokens, tokens, head_dim, causal}, kH200);
  const trace::WarpProgram& program = built.launches[0].programs[0];
  const auto last =
      std::ranges::find(program.loops.rbegin(), program.loops.rend(), true, &trace::Loop::again);
  const auto loop = std::ranges::find(program.loops, last->begin, &trace::Loop::end);
  return {program.code.begin() + loop->begin, program.code.begin() + loop->end};
}

std::ptrdiff_t count(const std::vector<Instruction>& code, Opcode opcode) {
  return std::ranges::count(code, opcode, &Instruction::opcode);
}

TEST(CheckedColumns, LoopsHaveTheInstructionsOfMachineCode) {
  const experiments::CsvTable table =
      experiments::read_csv(WARPSCOPE_SOURCE_DIR "/experiments/reference/measured-h200/checked_columns.csv");
  int checked = 0;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const auto number = [&](const char* column) {
      return std::stoi(table.rows[i].fields.at(table.column(column)));
    };
    SCOPED_TRACE(testing::Message() << "d " << number("head_dim") << ", causal " << number("causal"));
    const std::vector<Instruction> loop =
        loop_of(number("head_dim"), number("causal") == 1, number("tokens"));
    // Of 80 columns both paths of a branch begin with stores, of 24 too.
    EXPECT_NEAR(static_cast<double>(loop.size()), number("loop_instructions"),
                0.005 * number("loop_instructions"));
    EXPECT_EQ(count(loop, Opcode::LDGSTS_128), number("LDGSTS"));
    EXPECT_EQ(std::ranges::count_if(loop, kernels::is_dead_load), number("dead_lds"));
    const bool checks = number("head_dim") < number("tile_head_dim");
    EXPECT_EQ(count(loop, Opcode::STS_128), checks ? number("LDGSTS") : 0);
    if (checks) {
      EXPECT_EQ(count(loop, Opcode::LDL) + count(loop, Opcode::LDL_64), number("LDL"));
      EXPECT_EQ(count(loop, Opcode::STL) + count(loop, Opcode::STL_64), number("STL"));
    }
    checked += checks ? 1 : 0;
  }
  EXPECT_EQ(checked, 12);
}

TEST(CheckedColumns, DeadLoadsHoldNobodyUp) {
  const std::vector<Instruction> loop = loop_of(224, false, 2048);
  int loads = 0;
  for (std::size_t i = 0; i < loop.size(); ++i) {
    if (!kernels::is_dead_load(loop[i])) {
      continue;
    }
    ++loads;
    EXPECT_EQ(loop[i].control.stall_cycles, 1) << "instruction " << i;
    if (loop[i - 1].opcode == Opcode::STS_128) {
      EXPECT_LE(loop[i - 1].control.stall_cycles, 4) << "instruction " << i - 1;
    }
  }
  EXPECT_EQ(loads, 96);
}

}  // namespace
}  // namespace warpscope::tests

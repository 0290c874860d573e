// How many operands of FlashAttention-2's main loops are in registers of one bank, against machine code
// (experiments/reference/machine-code/register_banks.csv).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "experiments/csv/csv.hpp"
#include "tests/support/main_loop.hpp"

namespace warpscope::tests {
namespace {

using trace::Instruction;
using trace::Opcode;

/// Instructions that read two different registers.
struct Pairs {
  int all = 0;
  int of_one_bank = 0;

  double share() const { return static_cast<double>(of_one_bank) / all; }
};

Pairs pairs(const std::vector<Instruction>& loop, Opcode opcode) {
  Pairs result;
  for (const Instruction& instruction : loop) {
    const auto& [first, second, third, fourth] = instruction.sources;
    if (instruction.opcode == opcode && first.count == 1 && second.count == 1 &&
        first.first != second.first) {
      ++result.all;
      result.of_one_bank += (first.first - second.first) % 2 == 0 ? 1 : 0;
    }
  }
  return result;
}

/// Forward loops of a build, and those of them in which the share of maxima or sums differs by a fifth.
struct Compared {
  int loops = 0;
  int different = 0;
};

Compared compare(const std::string& build, const char* kernel) {
  const experiments::CsvTable table =
      experiments::read_csv(WARPSCOPE_SOURCE_DIR "/experiments/reference/machine-code/register_banks.csv");
  Compared result;
  for (const experiments::CsvRecord& row : table.rows) {
    const auto field = [&](const char* column) { return row.fields.at(table.column(column)); };
    if (field("build") != build || field("pass") != "fwd") {
      continue;
    }
    const std::vector<Instruction> loop = main_loop(std::stoi(field("head_dim")), field("causal") == "1",
                                                    field("even_lengths") == "1" ? 2048 : 2049, kernel);
    const Pairs maxima = pairs(loop, Opcode::FMNMX);
    const Pairs sums = pairs(loop, Opcode::FADD);
    // Of tiles that the library keeps for other GPUs there is nothing to compare.
    if (maxima.all != std::stoi(field("maxima"))) {
      continue;
    }
    ++result.loops;
    const auto measured = [&](const char* of_one_bank, const char* all) {
      return std::stod(field(of_one_bank)) / std::stod(field(all));
    };
    const bool same = std::abs(maxima.share() - measured("maxima_of_one_bank", "maxima")) < 0.2 &&
                      std::abs(sums.share() - measured("sums_of_one_bank", "sums")) < 0.2;
    result.different += same ? 0 : 1;
  }
  return result;
}

TEST(RegisterBanks, OfTheRepositoryAreThoseOfMachineCode) {
  const Compared compared = compare("repository", "fa2");
  EXPECT_EQ(compared.loops, 7);
  EXPECT_EQ(compared.different, 0);
}

// The model spreads all of PyTorch's. Machine code does not at 128 (6 loops), with bounds at 32 (4), at 96
// without a mask (2) and at 256 (3), and in one of 64 (machine-code/README.md).
TEST(RegisterBanks, OfPyTorchAreSpreadInAllLoops) {
  const Compared compared = compare("pytorch", "fa2_torch");
  EXPECT_EQ(compared.loops, 36);
  EXPECT_EQ(compared.different, 16);
}

}  // namespace
}  // namespace warpscope::tests

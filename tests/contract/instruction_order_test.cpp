// Where FlashAttention-2's main loops do the work of the softmax, against PyTorch's machine code
// (experiments/reference/machine-code/pytorch_order.csv).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "experiments/csv/csv.hpp"
#include "tests/support/main_loop.hpp"

namespace warpscope::tests {
namespace {

using trace::Opcode;

/// Instructions of a loop: how many HMMAs, and how many of these come before each of the others, by column of
/// the table.
struct Order {
  int hmmas = 0;
  std::map<std::string, std::vector<int>> before;
};

const std::map<Opcode, std::string> kColumns = {{Opcode::MUFU_EX2, "exponentials"},
                                                {Opcode::F2FP_PACK_AB, "packs"},
                                                {Opcode::FMUL, "products"},
                                                {Opcode::FADD, "sums"}};

Order order_of(const std::vector<trace::Instruction>& loop) {
  Order order;
  for (const trace::Instruction& instruction : loop) {
    order.hmmas += instruction.opcode == Opcode::HMMA_16816_F32 ? 1 : 0;
    const auto column = kColumns.find(instruction.opcode);
    if (column != kColumns.end()) {
      order.before[column->second].push_back(order.hmmas);
    }
  }
  return order;
}

/// Mean share of the HMMAs of the second product, half of all, that come first.
double share_of_second_product(const Order& order, const std::string& column) {
  const double half = order.hmmas / 2.0;
  const std::vector<int>& before = order.before.at(column);
  double sum = 0;
  for (const int hmmas : before) {
    sum += std::max(0.0, hmmas - half) / half;
  }
  return sum / static_cast<double>(before.size());
}

using Shares = std::map<std::string, double>;

/// How far the loops that PyTorch's library has for a target are off in the mean, by column.
Shares mean_difference(const std::string& target, const kernels::GpuLimits& limits, int& loops) {
  const experiments::CsvTable table =
      experiments::read_csv(WARPSCOPE_SOURCE_DIR "/experiments/reference/machine-code/pytorch_order.csv");
  Shares off;
  loops = 0;
  for (const experiments::CsvRecord& record : table.rows) {
    const auto text = [&](const std::string& column) { return record.fields.at(table.column(column)); };
    const auto field = [&](const std::string& column) { return std::stod(text(column)); };
    if (text("target") != target) {
      continue;
    }
    const std::int64_t tokens = field("even_lengths") == 1 ? 4096 : 4000;
    const Order ours = order_of(main_loop(static_cast<std::int64_t>(field("head_dim")), field("causal") == 1,
                                          tokens, "fa2_torch", limits));
    // Of tiles that the library keeps for other GPUs there is nothing to compare.
    if (ours.hmmas == static_cast<int>(field("hmmas"))) {
      for (const auto& [opcode, column] : kColumns) {
        off[column] += std::abs(share_of_second_product(ours, column) - field(column));
      }
      ++loops;
    }
  }
  for (auto& [column, sum] : off) {
    sum /= loops;
  }
  return off;
}

void expect_near(const std::string& target, const kernels::GpuLimits& limits, int least_loops,
                 const Shares& most_off) {
  int loops = 0;
  const Shares off = mean_difference(target, limits, loops);
  ASSERT_GE(loops, least_loops);
  for (const auto& [column, limit] : most_off) {
    EXPECT_LT(off.at(column), limit) << column;
    testing::Test::RecordProperty(column, std::to_string(off.at(column)));
  }
}

TEST(InstructionOrder, IsNearMachineCode) {
  expect_near("sm_90", kH200, 20,
              {{"exponentials", 0.04}, {"packs", 0.055}, {"products", 0.04}, {"sums", 0.11}});
}

TEST(InstructionOrder, IsNearMachineCodeOfAmpere) {
  expect_near("sm_80", kA100, 11,
              {{"exponentials", 0.07}, {"packs", 0.11}, {"products", 0.035}, {"sums", 0.13}});
}

}  // namespace
}  // namespace warpscope::tests

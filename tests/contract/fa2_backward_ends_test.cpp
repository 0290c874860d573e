// How the launches before and behind FlashAttention-2's backward pass load, against machine code
// (experiments/reference/machine-code/pytorch_backward_ends.csv).
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "kernels/kernel.hpp"
#include "tests/support/gpu_limits.hpp"

namespace warpscope::tests {
namespace {

using trace::Instruction;
using trace::Opcode;

trace::Launch launch_of(const char* kernel, std::int64_t head_dim, std::size_t launch) {
  const kernels::Problem problem{
      1, 8, 8, 2048, 2048, head_dim, false, kernels::DataType::fp16, kernels::Pass::backward};
  return kernels::find_kernel(kernel).build(problem, kH100).launches.at(launch);
}

/// Loads of a kind that are issued before one of them is waited for, round by round.
std::vector<int> rounds_of(const std::vector<Instruction>& code, Opcode load) {
  std::vector<int> rounds;
  int issued = 0;
  unsigned under_way = 0;
  for (const Instruction& instruction : code) {
    if (issued > 0 && (instruction.control.wait_mask & under_way) != 0) {
      rounds.push_back(issued);
      issued = 0;
      under_way = 0;
    }
    if (instruction.opcode == load) {
      ++issued;
      under_way |= 1U << instruction.control.write_scoreboard;
    }
  }
  return rounds;
}

/// Loads under way at most, and in the mean if each takes equally long.
struct UnderWay {
  int most = 0;
  double mean = 0;
};

UnderWay under_way_of(const std::vector<Instruction>& code, Opcode load) {
  std::map<int, std::pair<double, int>> boards;
  UnderWay result;
  double now = 0;
  int loads = 0;
  for (const Instruction& instruction : code) {
    std::erase_if(boards, [&](const auto& board) {
      const bool waits = (instruction.control.wait_mask >> board.first & 1) != 0;
      now = waits ? std::max(now, board.second.first) : now;
      return waits;
    });
    if (instruction.opcode == load) {
      ++loads;
      auto& [back, count] = boards[instruction.control.write_scoreboard];
      back = now + 1;
      ++count;
      int all = 0;
      for (const auto& board : boards) {
        all += board.second.second;
      }
      result.most = std::max(result.most, all);
    }
  }
  result.mean = loads / now;
  return result;
}

TEST(Fa2BackwardEnds, RowsAreLoadedInTheRoundsOfMachineCode) {
  const std::map<std::int64_t, std::vector<int>> measured = {{32, {2, 2}},        {64, {2, 2, 4}},
                                                             {96, {3, 3}},        {128, {2, 2, 4}},
                                                             {192, {3, 3, 3, 3}}, {256, {4, 4, 4, 4}}};
  for (const auto& [head_dim, rounds] : measured) {
    const trace::Launch launch = launch_of("fa2_torch", head_dim, 0);
    EXPECT_EQ(rounds_of(launch.programs.at(0).code, Opcode::LDG_128), rounds) << head_dim;
  }
}

TEST(Fa2BackwardEnds, AsManySumsAreUnderWayAsRegistersAreLeftFor) {
  for (const std::int64_t head_dim : {32, 64, 96, 128, 192, 256}) {
    const trace::Launch torch = launch_of("fa2_torch", head_dim, 2);
    const UnderWay few = under_way_of(torch.programs.at(0).code, Opcode::LDG_32);
    EXPECT_NEAR(few.mean, 4, 1) << head_dim;
    EXPECT_LE(few.most, 8) << head_dim;
    const trace::Launch upstream = launch_of("fa2", head_dim, 2);
    EXPECT_GT(upstream.registers_per_thread, torch.registers_per_thread) << head_dim;
    EXPECT_GT(under_way_of(upstream.programs.at(0).code, Opcode::LDG_32).mean, few.mean) << head_dim;
  }
}

}  // namespace
}  // namespace warpscope::tests

// What decoding tells the issue loop in advance.
#include "model/sm/decoded_launch.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "model/sm/sm_core.hpp"
#include "tests/support/random_program.hpp"
#include "tests/support/test_config.hpp"

namespace warpscope::test {
namespace {

using enum trace::Opcode;

constexpr std::uint32_t kPrograms = 400;

using enum sm::Reach;

std::vector<sm::Reach> reaches(const trace::WarpProgram& program) {
  const trace::Trace trace{{tensor("t", 1 << 20)}, {one_program(program, 1, 1, {2})}};
  const sm::DecodedLaunch decoded = sm::decode(test_config(), trace, trace.launches[0]);
  std::vector<sm::Reach> result;
  for (const sm::DecodedInstruction& instruction : decoded.code) {
    result.push_back(instruction.reach);
  }
  return result;
}

TEST(DecodedLaunch, WhatTakesAPipeReachesNoFurtherAndWhatOthersShareReachesThem) {
  Program program;
  program.op(FFMA).op(HMMA_16816_F32).op(MUFU_EX2).op(FFMA).sets(1);
  program.op(NOP).op(LDS_32).shared(128, 1).exit();
  EXPECT_EQ(reaches(program.build_controlled()),
            (std::vector<sm::Reach>{pipe, pipe, pipe, sub_core, sub_core, sm, sm}));
}

TEST(DecodedLaunch, WhatIsBeforeAJumpOrALoopMayFetch) {
  Program program;
  program.op(FFMA).begin_loop(0).op(FFMA).op(FFMA).end_loop().exit();
  EXPECT_EQ(reaches(program.build_controlled()), (std::vector<sm::Reach>{sm, pipe, pipe, sm, sm}));
}

TEST(DecodedLaunch, TheEndOfAnInstructionLineFetches) {
  const int per_line = test_config().sm.icache.line_bytes / sm::kInstructionBytes;
  const std::vector<sm::Reach> result = reaches(Program().op(FFMA, 2 * per_line).exit().build_controlled());
  for (int i = 0; i < 2 * per_line; ++i) {
    EXPECT_EQ(result[static_cast<std::size_t>(i)], (i + 1) % per_line != 0 ? pipe : sm) << i;
  }
}

TEST(DecodedLaunch, EverythingReachesFarWhereRegistersAreTracked) {
  EXPECT_EQ(reaches(Program().op(FFMA, 2).exit().build()), (std::vector<sm::Reach>{sm, sm, sm}));
}

TEST(DecodedLaunch, LinesAreThoseOfTheLongestTextWhereAnEarlierOneComesAgain) {
  const int per_line = test_config().sm.icache.line_bytes / sm::kInstructionBytes;
  const trace::WarpProgram brief = Program().exit().build_controlled();
  trace::Launch launch = one_program(brief);
  launch.programs.push_back(Program().op(FFMA, 3 * per_line).exit().build_controlled());
  launch.programs.push_back(brief);
  const sm::DecodedLaunch decoded = sm::decode(test_config(), {}, launch);
  EXPECT_EQ(decoded.code.back().line, 0U);
  EXPECT_EQ(decoded.code_lines, 4U);
}

struct Course {
  std::vector<std::int32_t> ends;
  std::array<std::uint64_t, metrics::kStallReasons> stalls{};

  bool operator==(const Course&) const = default;
};

Course course(const trace::Trace& trace, const sm::DecodedLaunch& decoded) {
  const trace::Launch& launch = trace.launches[0];
  const hw::HwConfig config = test_config();
  std::vector<sm::SentRequest> sent;
  sm::SmCore core(config, trace, decoded, 2, sent);
  for (int slot = 0; slot < 2; ++slot) {
    core.install(slot, {&launch.classes[0], {static_cast<std::uint32_t>(slot), 0, 0}, false}, 0);
  }
  constexpr std::int32_t kWindow = 64;
  std::vector<sm::Completion> completions;
  for (std::int32_t end = kWindow; !core.idle() && end < 1 << 20; end += kWindow) {
    core.run_until(end, completions);
    for (const sm::SentRequest& request : std::exchange(sent, {})) {
      core.answer(request, request.time + 300);
    }
  }
  EXPECT_TRUE(core.idle());
  Course result;
  for (const auto& [time, slot] : completions) {
    result.ends.push_back(time);
  }
  result.stalls = core.counters().stall_warp_cycles;
  return result;
}

/// The short ways through the issue loop, and sub-cores ahead of others, lead where the long ones do.
TEST(DecodedLaunch, ShortWaysChangeNothing) {
  int shortened = 0;
  for (std::uint32_t seed = 0; seed < kPrograms; ++seed) {
    const std::uint32_t warps = 1 + seed % 6;
    trace::WarpProgram program = RandomProgram(seed).make(60, warps > 1, true);
    const trace::Trace trace{random_program_tensors(),
                             {one_program(std::move(program), warps, 2, {3 + seed % 3, 2})}};
    const sm::DecodedLaunch decoded = sm::decode(test_config(), trace, trace.launches[0]);
    sm::DecodedLaunch long_ways = decoded;
    for (sm::DecodedInstruction& instruction : long_ways.code) {
      shortened += instruction.reach != sm || !instruction.waits ? 1 : 0;
      instruction.reach = sm;
      instruction.waits = true;
    }
    EXPECT_EQ(course(trace, decoded), course(trace, long_ways)) << seed;
  }
  EXPECT_GT(shortened, 1000);
}

}  // namespace
}  // namespace warpscope::test

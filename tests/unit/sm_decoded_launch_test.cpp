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

constexpr std::uint32_t kPrograms = 40;

std::vector<bool> plain(const trace::WarpProgram& program) {
  const trace::Trace trace{{tensor("t", 1 << 20)}, {one_program(program, 1, 1, {2})}};
  const sm::DecodedLaunch decoded = sm::decode(test_config(), trace, trace.launches[0]);
  std::vector<bool> result;
  for (const sm::DecodedInstruction& instruction : decoded.code) {
    result.push_back(instruction.plain);
  }
  return result;
}

TEST(DecodedLaunch, PlainInstructionsTakeTheirPipeAndNothingElse) {
  Program program;
  program.op(FFMA).op(HMMA_16816_F32).op(MUFU_EX2).op(FFMA).sets(1);
  program.op(NOP).op(LDS_32).shared(128, 1).exit();
  EXPECT_EQ(plain(program.build_controlled()),
            (std::vector<bool>{true, true, true, false, false, false, false}));
}

TEST(DecodedLaunch, NothingIsPlainBeforeAJumpOrALoop) {
  Program program;
  program.op(FFMA).begin_loop(0).op(FFMA).op(FFMA).end_loop().exit();
  EXPECT_EQ(plain(program.build_controlled()), (std::vector<bool>{false, true, true, false, false}));
}

TEST(DecodedLaunch, NothingIsPlainAtTheEndOfAnInstructionLine) {
  const int per_line = test_config().sm.icache.line_bytes / sm::kInstructionBytes;
  const std::vector<bool> result = plain(Program().op(FFMA, 2 * per_line).exit().build_controlled());
  for (int i = 0; i < 2 * per_line; ++i) {
    EXPECT_EQ(result[static_cast<std::size_t>(i)], (i + 1) % per_line != 0) << i;
  }
}

TEST(DecodedLaunch, NothingIsPlainWhereRegistersAreTracked) {
  EXPECT_EQ(plain(Program().op(FFMA, 2).exit().build()), (std::vector<bool>{false, false, false}));
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

/// The short ways through the issue loop lead where the long ones do.
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
      shortened += instruction.plain || !instruction.waits ? 1 : 0;
      instruction.plain = false;
      instruction.waits = true;
    }
    EXPECT_EQ(course(trace, decoded), course(trace, long_ways)) << seed;
  }
  EXPECT_GT(shortened, 1000);
}

}  // namespace
}  // namespace warpscope::test

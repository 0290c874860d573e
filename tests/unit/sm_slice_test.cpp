// Slices: where an SM pauses must not show in what it does.
#include <gtest/gtest.h>

#include <utility>

#include "model/sm/slice_memo.hpp"
#include "tests/support/core_bench.hpp"
#include "tests/support/random_program.hpp"

namespace warpscope::test {
namespace {

using enum trace::Opcode;

constexpr std::uint32_t kPrograms = 60;

trace::Launch random_launch(std::uint32_t seed, std::uint32_t warps, std::uint32_t ctas, bool controlled) {
  RandomProgram random(seed);
  return one_program(random.make(60, warps > 1, controlled), warps, ctas, {3 + seed % 3, 2});
}

/// A memory with latencies of its own for every address.
memory::Response answer(const sm::MemoryRequest& request) {
  const auto spread = static_cast<std::int32_t>(request.offset / 512 % 7);
  return {150 + 40 * spread, 64 * 3 + 7, spread < 2 ? 64 * 9 + 5 : 0};
}

struct Outcome {
  std::vector<std::int64_t> ends;
  std::vector<std::pair<std::int64_t, std::int64_t>> accesses;
  std::array<std::uint64_t, metrics::kStallReasons> stalls{};

  bool operator==(const Outcome&) const = default;
};

Outcome outcome(const trace::Launch& launch, int slots, std::int32_t min_cycles, std::int32_t max_cycles) {
  CoreBench bench(test_config(), launch, slots, random_program_tensors());
  bench.answer(answer);
  bench.run(min_cycles, max_cycles);
  EXPECT_FALSE(bench.deadlock());
  Outcome result;
  for (int slot = 0; slot < slots; ++slot) {
    result.ends.push_back(bench.end_of(slot));
  }
  for (const CoreBench::Access& access : bench.accesses()) {
    result.accesses.emplace_back(access.time, access.request.offset);
  }
  result.stalls = bench.core().counters().stall_warp_cycles;
  // What a ready warp waited for is decided for each stretch from the last cycles of the issue slot, and a
  // slice ends a stretch: only the sum of these reasons is the same whatever the slices.
  std::uint64_t& ready = result.stalls[static_cast<std::size_t>(metrics::Stall::not_selected)];
  for (const metrics::Stall reason :
       {metrics::Stall::dispatch_stall, metrics::Stall::math_pipe_throttle, metrics::Stall::mio_throttle}) {
    ready += std::exchange(result.stalls[static_cast<std::size_t>(reason)], 0);
  }
  return result;
}

// Cost follows work, not time: a slice in which nothing can happen lasts until something does.
TEST(SmSlice, WaitsInOneSlice) {
  CoreBench bench(test_config(),
                  one_program(Program().op(LDG_32).writes(1).global(0, 0, 128).exit().reads(1).build()));
  bench.answer(memory::Response{.latency_cycles = 1'000'000});
  const auto port = [](const sm::MemoryRequest&, std::int32_t) {
    return memory::Response{.latency_cycles = 1'000'000};
  };
  const sm::Slice load = bench.core().run_slice(512, 4096, port, nullptr);
  EXPECT_EQ(load.end, 4096);
  const sm::Slice wait = bench.core().run_slice(512, 4096, port, nullptr);
  EXPECT_NEAR(load.end + wait.end, 1'000'000, 100);
  EXPECT_EQ(wait.issued, 0U);
  EXPECT_EQ(bench.core().run_slice(512, 4096, port, nullptr).completions.size(), 1U);
}

TEST(SmSlice, WhereSlicesEndDoesNotMatter) {
  for (std::uint32_t seed = 0; seed < kPrograms; ++seed) {
    const trace::Launch launch = random_launch(seed, 1 + seed % 6, 3, seed % 2 == 0);
    const Outcome whole = outcome(launch, 3, 1 << 20, 1 << 20);
    for (const auto& [least, most] : {std::pair{1, 1}, {1, 7}, {40, 100}, {512, 4096}}) {
      const Outcome pieces = outcome(launch, 3, least, most);
      EXPECT_EQ(pieces.ends, whole.ends) << seed << " " << most;
      EXPECT_EQ(pieces.accesses, whole.accesses) << seed << " " << most;
      EXPECT_EQ(pieces.stalls, whole.stalls) << seed << " " << most;
    }
  }
}

TEST(SmSlice, StallsAddUpToTheResidenceOfTheWarps) {
  const hw::HwConfig config = test_config();
  for (std::uint32_t seed = 0; seed < kPrograms; ++seed) {
    CoreBench bench(config, random_launch(seed, 1, 9, seed % 2 == 0), 9, random_program_tensors());
    bench.answer(answer);
    bench.run();
    std::uint64_t residence = 0;
    for (int slot = 0; slot < 9; ++slot) {
      residence += static_cast<std::uint64_t>(bench.end_of(slot) + config.sm.icache.l1_fill_cycles + 1);
    }
    EXPECT_EQ(bench.all_warp_cycles(), residence) << seed;
  }
}

/// Two cores with the same launch share a memo; the second one's slices need not be stepped.
TEST(SmSlice, SecondSmInTheSameStateIsNotStepped) {
  const hw::HwConfig config = test_config();
  const trace::Trace trace{random_program_tensors(), {random_launch(4, 4, 1, true)}};
  const trace::Launch& launch = trace.launches[0];
  const sm::DecodedLaunch decoded = sm::decode(config, trace, launch);
  ASSERT_FALSE(decoded.needs_register_scoreboard);
  sm::SliceMemo memo;
  std::vector<std::uint64_t> executed;
  std::vector<std::vector<std::pair<std::int64_t, std::int64_t>>> requests;
  for (int i = 0; i < 2; ++i) {
    sm::SmCore core(config, trace, launch, decoded, 1);
    core.install(0, {&launch.classes[0], {0, 0, 0}, false}, 0);
    sm::SliceReplayer replayer(core, memo);
    std::int64_t now = 0;
    requests.emplace_back();
    const sm::MemoryPort port = [&](const sm::MemoryRequest& request, std::int32_t time) {
      requests.back().emplace_back(now + time, request.offset);
      return answer(request);
    };
    while (!core.idle()) {
      core.set_phase(now);
      const sm::Slice slice = replayer.run(64, 512, port, 1);
      ASSERT_FALSE(slice.deadlock);
      now += slice.end;
    }
    executed.push_back(replayer.executed());
  }
  EXPECT_GT(executed[0], 100U);
  EXPECT_EQ(executed[1], 0U);
  EXPECT_FALSE(requests[0].empty());
  EXPECT_EQ(requests[0], requests[1]);
}

/// A free memory answers with nothing at all; each request must still be sent once.
TEST(SmSlice, RequestsAreSentOnceWhateverTheMemoryAnswers) {
  const hw::HwConfig config = test_config();
  Program program;
  program.begin_loop(0).op(trace::Opcode::LDG_32);
  trace::MemoryOperand operand;
  operand.tensor = 0;
  operand.bytes = 128;
  operand.offset.per_iteration = {128, 0, 0};
  operand.offset.per_block = {1 << 20, 0, 0};
  program.memory(operand).op(trace::Opcode::NOP, 20).end_loop().exit();
  const trace::Trace trace{random_program_tensors(), {one_program(program.build_controlled(), 1, 2, {40})}};
  const trace::Launch& launch = trace.launches[0];
  const sm::DecodedLaunch decoded = sm::decode(config, trace, launch);
  sm::SliceMemo memo;
  for (std::uint32_t block = 0; block < 2; ++block) {
    sm::SmCore core(config, trace, launch, decoded, 1);
    core.install(0, {&launch.classes[0], {block, 0, 0}, false}, 0);
    std::vector<std::int64_t> offsets;
    // The second CTA's memory is slow from its tenth request on, so that it leaves the path of the first.
    const sm::MemoryPort port = [&](const sm::MemoryRequest& request, std::int32_t) {
      offsets.push_back(request.offset);
      return block == 1 && offsets.size() > 10 ? memory::Response{500, 64, 0} : memory::Response{};
    };
    sm::SliceReplayer replayer(core, memo);
    while (!core.idle()) {
      ASSERT_FALSE(replayer.run(200, 4096, port, 1).deadlock);
    }
    ASSERT_EQ(offsets.size(), 40U) << block;
    for (std::size_t i = 0; i < offsets.size(); ++i) {
      EXPECT_EQ(offsets[i],
                static_cast<std::int64_t>(block) * (1 << 20) + 128 * static_cast<std::int64_t>(i));
    }
  }
}

}  // namespace
}  // namespace warpscope::test

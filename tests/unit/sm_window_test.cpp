// Windows: where an SM pauses must not show in what it does, nor where its time begins.
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "tests/support/core_bench.hpp"
#include "tests/support/random_program.hpp"

namespace warpscope::test {
namespace {

constexpr std::uint32_t kPrograms = 60;

trace::Launch random_launch(std::uint32_t seed, std::uint32_t warps, std::uint32_t ctas, bool controlled) {
  RandomProgram random(seed);
  return one_program(random.make(60, warps > 1, controlled), warps, ctas, {3 + seed % 3, 2});
}

/// A memory with latencies of its own for every address.
std::int32_t answer(const sm::MemoryRequest& request) {
  return 150 + 37 * static_cast<std::int32_t>(request.offset / 512 % 7);
}

struct Outcome {
  std::vector<std::int64_t> ends;
  std::vector<std::pair<std::int64_t, std::int64_t>> accesses;
  std::array<std::uint64_t, metrics::kStallReasons> stalls{};
};

Outcome outcome(const trace::Launch& launch, std::int32_t window_cycles, bool moves_origin) {
  CoreBench bench(test_config(), launch, 3, random_program_tensors());
  bench.answer(answer);
  bench.run(window_cycles, moves_origin);
  EXPECT_FALSE(bench.deadlock());
  Outcome result;
  for (int slot = 0; slot < 3; ++slot) {
    result.ends.push_back(bench.end_of(slot));
  }
  for (const CoreBench::Access& access : bench.accesses()) {
    result.accesses.emplace_back(access.time, access.request.offset);
  }
  result.stalls = bench.core().counters().stall_warp_cycles;
  // What a ready warp waited for is decided for each stretch from the last cycles of the issue slot, and a
  // new origin ends a stretch: only the sum of these reasons is the same whatever the origins.
  std::uint64_t& ready = result.stalls[static_cast<std::size_t>(metrics::Stall::not_selected)];
  for (const metrics::Stall reason :
       {metrics::Stall::dispatch_stall, metrics::Stall::math_pipe_throttle, metrics::Stall::mio_throttle}) {
    ready += std::exchange(result.stalls[static_cast<std::size_t>(reason)], 0);
  }
  return result;
}

TEST(SmWindow, WhereWindowsEndDoesNotMatter) {
  for (std::uint32_t seed = 0; seed < kPrograms; ++seed) {
    const trace::Launch launch = random_launch(seed, 1 + seed % 6, 3, seed % 2 == 0);
    const Outcome longest = outcome(launch, 150, false);
    for (const auto& [cycles, moves_origin] :
         {std::pair{1, false}, {7, false}, {64, false}, {1, true}, {7, true}, {150, true}}) {
      const Outcome other = outcome(launch, cycles, moves_origin);
      EXPECT_EQ(other.ends, longest.ends) << seed << " " << cycles << " " << moves_origin;
      EXPECT_EQ(other.accesses, longest.accesses) << seed << " " << cycles << " " << moves_origin;
      EXPECT_EQ(other.stalls, longest.stalls) << seed << " " << cycles << " " << moves_origin;
    }
  }
}

TEST(SmWindow, StallsAddUpToTheResidenceOfTheWarps) {
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

}  // namespace
}  // namespace warpscope::test

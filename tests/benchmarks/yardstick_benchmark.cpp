// Work that has nothing to do with the simulator. What is compared with it, on one machine and in one run, is
// compared with the speed of that machine.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

namespace warpscope {
namespace {

void yardstick(benchmark::State& state) {
  constexpr std::size_t kNumbers = 1 << 16;
  std::vector<std::uint32_t> numbers(kNumbers);
  for (auto _ : state) {
    std::mt19937 random(1);
    std::ranges::generate(numbers, random);
    std::ranges::sort(numbers);
    benchmark::DoNotOptimize(numbers.data());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kNumbers));
}
BENCHMARK(yardstick)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace warpscope

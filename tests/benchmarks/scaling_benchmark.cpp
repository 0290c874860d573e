// How the cost of FA2 grows with the length of a sequence, with the batch and with the number of SMs.
#include <benchmark/benchmark.h>

#include "tests/benchmarks/points.hpp"

namespace warpscope::benchmarks {
namespace {

constexpr std::int64_t kHeadDim = 128;

/// One sequence: the work grows with the square of its length.
void seqlen(benchmark::State& state) {
  run_point(state, forward_point("fa2", 1, 16, state.range(0), kHeadDim), benchmark_gpu());
}
BENCHMARK(seqlen)
    ->ArgName("tokens")
    ->RangeMultiplier(2)
    ->Range(1 << 10, 1 << 17)
    ->Unit(benchmark::kMillisecond);

void batch(benchmark::State& state) {
  run_point(state, forward_point("fa2", state.range(0), 16, 2048, kHeadDim), benchmark_gpu());
}
BENCHMARK(batch)->ArgName("sequences")->RangeMultiplier(4)->Range(1, 64)->Unit(benchmark::kMillisecond);

/// The number of SMs that fast mode simulates, each for a group of others.
void sm_groups(benchmark::State& state) {
  experiments::Point point = forward_point("fa2", 4, 16, 2048, kHeadDim);
  point.model.options.sm_groups = static_cast<int>(state.range(0));
  run_point(state, point, benchmark_gpu());
}
BENCHMARK(sm_groups)->ArgName("groups")->RangeMultiplier(2)->Range(1, 16)->Unit(benchmark::kMillisecond);

/// GPUs with so many SMs, a head of 1024 tokens for every four of them: equal work for each SM.
void sms_detailed(benchmark::State& state) {
  hw::HwConfig config = benchmark_gpu();
  config.gpu.sm_count = static_cast<int>(state.range(0));
  experiments::Point point = forward_point("fa2", 1, state.range(0) / 4, 1024, kHeadDim);
  point.model.options.mode = gpu::Mode::detailed;
  run_point(state, point, config);
}
BENCHMARK(sms_detailed)->ArgName("sms")->RangeMultiplier(4)->Range(4, 64)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace warpscope::benchmarks

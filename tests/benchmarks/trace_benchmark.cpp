// From a problem to the trace of its kernel, before anything is simulated.
#include <benchmark/benchmark.h>

#include "experiments/point/run.hpp"
#include "tests/benchmarks/points.hpp"

namespace warpscope::benchmarks {
namespace {

void build_trace(benchmark::State& state, const char* kernel) {
  const kernels::GpuLimits limits = experiments::limits_of(benchmark_gpu());
  const experiments::Point point = forward_point(kernel, 1, 16, state.range(0), state.range(1));
  for (auto _ : state) {
    benchmark::DoNotOptimize(kernels::find_kernel(kernel).build(point.problem, limits));
  }
  state.SetItemsProcessed(state.iterations());
}

void sizes(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgNames({"seqlen", "head_dim"})->Unit(benchmark::kMillisecond);
  benchmark->Args({1024, 64})->Args({1024, 128})->Args({16384, 128});
}
BENCHMARK_CAPTURE(build_trace, fa2, "fa2")->Apply(sizes);
BENCHMARK_CAPTURE(build_trace, fa1, "fa1")->Apply(sizes);
BENCHMARK_CAPTURE(build_trace, standard, "standard")->Apply(sizes);

}  // namespace
}  // namespace warpscope::benchmarks

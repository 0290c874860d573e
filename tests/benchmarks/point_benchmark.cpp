// Whole points, trace included, in both modes.
#include <benchmark/benchmark.h>

#include "tests/benchmarks/points.hpp"

namespace warpscope::benchmarks {
namespace {

using gpu::Mode;

void point(benchmark::State& state, const char* kernel, Mode mode) {
  // Large enough that fast mode does not run it whole.
  experiments::Point point = forward_point(kernel, 8, 16, 1024, state.range(0));
  point.model.options.mode = mode;
  run_point(state, point, benchmark_gpu());
}

void head_dims(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgName("head_dim")->Arg(64)->Arg(128)->Unit(benchmark::kMillisecond);
}
BENCHMARK_CAPTURE(point, fa2_fast, "fa2", Mode::fast)->Apply(head_dims);
BENCHMARK_CAPTURE(point, fa2_detailed, "fa2", Mode::detailed)->Apply(head_dims);
BENCHMARK_CAPTURE(point, fa1_fast, "fa1", Mode::fast)->Apply(head_dims);
BENCHMARK_CAPTURE(point, fa1_detailed, "fa1", Mode::detailed)->Apply(head_dims);
BENCHMARK_CAPTURE(point, standard_fast, "standard", Mode::fast)->Apply(head_dims);
BENCHMARK_CAPTURE(point, standard_detailed, "standard", Mode::detailed)->Apply(head_dims);

}  // namespace
}  // namespace warpscope::benchmarks

// Events of the engine: one leaves the queue, one enters.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <random>

#include "model/sim/event_queue.hpp"

namespace warpscope::sim {
namespace {

/// As many events are pending as SMs have slices; each one is followed by another 512 to 1023 cycles later.
void events(benchmark::State& state) {
  EventQueue<std::uint64_t> queue;
  std::minstd_rand random(1);
  for (std::int64_t i = 0; i < state.range(0); ++i) {
    queue.push(static_cast<Cycles>(random() % 512), 0, static_cast<std::uint64_t>(i));
  }
  for (auto _ : state) {
    const auto event = queue.pop();
    queue.push(event.time + 512 + static_cast<Cycles>(random() % 512), 0, event.payload);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(events)->ArgName("pending")->Arg(1)->Arg(8)->Arg(132)->Arg(2048);

}  // namespace
}  // namespace warpscope::sim

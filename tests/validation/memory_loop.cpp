#include "tests/validation/memory_loop.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "model/base/spread_hash.hpp"
#include "model/gpu/simulate.hpp"
#include "tests/validation/instruction_kinds.hpp"
#include "tests/validation/program_builder.hpp"

namespace warpscope::validation {
namespace {

using trace::AffineIndex;
using trace::Opcode;

constexpr std::uint32_t kWarps = 4;
constexpr int kBytesPerLoad = 512;  // of a warp
constexpr std::uint32_t kIterations = 32;
constexpr std::uint32_t kPhases = 64;
constexpr int kPhaseSlot = 0;
constexpr int kPassSlot = 1;
constexpr int kTileSlot = 2;
constexpr int kThinkSlot = 3;
constexpr std::int64_t kDirtyBytes = 40 << 20;

/// A wait of some 35 cycles per trip that costs few instructions. Where nothing is loaded it keeps out of the
/// way of stores, which the load behind it waits for.
void add_wait(ProgramBuilder& builder, int slot, bool loads) {
  constexpr int kMultiplications = 7;
  builder.begin_loop(slot);
  loads ? add_chains(builder, "lds_32", 0, 1, 1) : add_chains(builder, "imad", 0, 1, kMultiplications);
  builder.end_loop();
}

struct Shape {
  std::uint32_t passes = 1;
  std::uint32_t tiles = kIterations;
};

Shape shape_of(const MemoryLoop& loop) {
  if (loop.footprint_bytes == 0) {
    return {};
  }
  const int regions = loop.shared ? 1 : loop.sms * loop.ctas_per_sm;
  const std::int64_t tiles = loop.footprint_bytes / (std::int64_t{loop.tile_bytes} * regions);
  Shape shape;
  shape.tiles = static_cast<std::uint32_t>(std::clamp<std::int64_t>(tiles, 1, kIterations / 4));
  shape.passes = kIterations / shape.tiles;
  return shape;
}

/// Instructions, as numbers of the launch's only program.
struct Marks {
  std::uint32_t first_load = 0;  ///< or what stands in its place
  std::uint32_t data_is_there = 0;
};

Marks marks_of(const trace::WarpProgram& program) {
  Marks marks;
  for (std::uint32_t pc = 0; pc < program.code.size(); ++pc) {
    if (program.code[pc].opcode == Opcode::BAR_SYNC) {
      (program.code[pc].immediate == 0 ? marks.first_load : marks.data_is_there) = pc;
    }
  }
  ++marks.first_load;
  return marks;
}

trace::WarpProgram program_of(const MemoryLoop& loop, bool touch) {
  const int loads = loop.tile_bytes / kBytesPerLoad / static_cast<int>(kWarps);
  const Shape shape = shape_of(loop);
  const auto add_tile = [&](ProgramBuilder& builder, bool store, std::uint16_t tensor) {
    for (int i = 0; i < loads; ++i) {
      AffineIndex offset;
      offset.offset = std::int64_t{i} * kBytesPerLoad * kWarps;
      offset.per_warp = kBytesPerLoad;
      offset.per_iteration[1] = loop.tile_bytes;
      offset.per_block[0] = loop.shared ? 0 : std::int64_t{loop.tile_bytes} * shape.tiles;
      const trace::RegisterRange data = reg(32 + 4 * i, 4);
      if (store) {
        builder.add_global(Opcode::STG_128, {}, {reg(2, 2), data}, kBytesPerLoad, offset, tensor);
      } else {
        builder.add_global(Opcode::LDG_128, data, {reg(2, 2)}, kBytesPerLoad, offset, tensor);
      }
    }
  };
  ProgramBuilder builder("loop");
  add_wait(builder, kPhaseSlot, loop.loads);
  builder.begin_loop(kPassSlot);
  builder.begin_loop(kTileSlot);
  builder.add_immediate(Opcode::BAR_SYNC, 0);
  if (loop.loads && touch) {
    add_tile(builder, false, 0);
  }
  for (int i = 0; loop.loads && i < loads; ++i) {
    builder.add(Opcode::IADD3, reg(8 + i), {reg(32 + 4 * i)});
  }
  builder.add_immediate(Opcode::BAR_SYNC, 1);
  if (loop.stores != Stores::none && touch) {
    add_tile(builder, true, loop.stores == Stores::in_place ? 0 : 1);
  }
  add_wait(builder, kThinkSlot, loop.loads);
  if (!loop.loads) {
    // What the measured loop reads behind its stores is not recorded, its periods say that it does
    // (loaded_latency.md).
    builder.add_global(Opcode::LDG_32, reg(8), {reg(2, 2)}, 128, {}, 3);
    builder.add(Opcode::IADD3, reg(9), {reg(8)});
  }
  builder.end_loop();
  builder.end_loop();
  return builder.finish();
}

/// Fills the L2 with dirty lines that nobody needs.
trace::Launch dirty_launch(int sms) {
  const std::int64_t bytes_per_warp = kDirtyBytes / sms / kWarps / kBytesPerLoad * kBytesPerLoad;
  ProgramBuilder builder("dirty");
  builder.begin_loop(0);
  AffineIndex offset;
  offset.per_iteration[0] = kBytesPerLoad;
  offset.per_warp = bytes_per_warp;
  offset.per_block[0] = bytes_per_warp * kWarps;
  builder.add_global(Opcode::STG_128, {}, {reg(2, 2), reg(4, 4)}, kBytesPerLoad, offset, 2);
  builder.end_loop();
  return make_launch("dirty", static_cast<std::uint32_t>(sms), kWarps, builder.finish(),
                     static_cast<std::uint32_t>(bytes_per_warp / kBytesPerLoad));
}

/// `think` and `phase_trips` are trips of the waiting loops.
trace::Trace trace_of(const MemoryLoop& loop, std::uint32_t think, std::uint32_t phase_trips, bool touch,
                      int all_sms) {
  const auto ctas = static_cast<std::uint32_t>(loop.sms * loop.ctas_per_sm);
  const Shape shape = shape_of(loop);
  trace::Launch launch = make_launch("loop", ctas, kWarps, program_of(loop, touch), 0);
  launch.shared_bytes_per_cta =
      loop.ctas_per_sm == 1 ? 200 << 10 : (220 << 10) / static_cast<std::uint32_t>(loop.ctas_per_sm);
  const trace::CtaClass cta_class = launch.classes[0];
  launch.classes.assign(kPhases, cta_class);
  for (std::uint32_t phase = 0; phase < kPhases; ++phase) {
    launch.classes[phase].trip_counts = {phase_trips * phase / kPhases, shape.passes, shape.tiles, think};
  }
  for (std::uint32_t cta = 0; cta < ctas; ++cta) {
    launch.class_of_block[0].push_back(static_cast<std::uint32_t>(spread_hash(cta + 1) % kPhases));
  }
  trace::Trace trace;
  const std::int64_t bytes = std::int64_t{ctas} * shape.tiles * loop.tile_bytes;
  trace.tensors = {{"read", trace::TensorKind::scratch, 1, bytes},
                   {"written", trace::TensorKind::scratch, 1, bytes},
                   {"dirty", trace::TensorKind::scratch, 1, kDirtyBytes},
                   {"word", trace::TensorKind::scratch, 1, 128}};
  if (touch && loop.stores != Stores::none && loop.sms > 1) {
    trace.launches.push_back(dirty_launch(all_sms));
  }
  if (loop.footprint_bytes > 0) {
    trace.launches.push_back(launch);  // fills the L2
    for (trace::CtaClass& of_phase : trace.launches.back().classes) {
      of_phase.trip_counts[kPassSlot] = 1;
    }
  }
  trace.launches.push_back(launch);
  return trace;
}

/// Collects when CTAs go round the loop, and how long their warps wait for data.
class LoopWatch : public metrics::Observer {
 public:
  explicit LoopWatch(const Marks& marks) : marks_(marks) {}
  void launch_begins(const metrics::LaunchBegin& /*launch*/) override {
    iterations_.clear();
    barrier_cycles_ = 0;
    barriers_ = 0;
  }
  bool watches(int /*sm*/, std::int64_t /*cycle*/) override { return true; }
  void slice(int sm, std::int64_t start, std::int64_t /*end*/,
             std::span<const metrics::SmEvent> events) override {
    std::vector<metrics::SmEvent> marked;
    for (const metrics::SmEvent& event : events) {
      const bool issues = event.kind == metrics::SmEvent::Kind::issue &&
                          (event.pc == marks_.first_load || event.pc == marks_.data_is_there);
      if (issues || (event.kind == metrics::SmEvent::Kind::barrier && event.detail == 1)) {
        marked.push_back(event);
      }
    }
    std::ranges::stable_sort(marked, {}, &metrics::SmEvent::begin);
    for (const metrics::SmEvent& event : marked) {
      const std::pair<int, int> warp{sm, event.warp};
      if (event.kind == metrics::SmEvent::Kind::barrier) {
        barrier_cycles_ += static_cast<double>(start + event.end - first_load_[warp]);
        ++barriers_;
        continue;
      }
      // In a loop that only writes the two are one instruction.
      if (event.pc == marks_.first_load) {
        first_load_[warp] = start + event.begin;
      }
      if (event.pc == marks_.data_is_there) {
        iterations_.push_back({warp, start + event.begin, start + event.begin - first_load_[warp]});
      }
    }
  }

  LoopTimes times() const {
    std::map<std::pair<int, int>, std::vector<std::int64_t>> starts;
    double sum = 0;
    double count = 0;
    // Of the time in which warps go round the loop, not of the launch around it.
    const std::int64_t last = std::ranges::max(iterations_, {}, &Iteration::begin).begin;
    for (const Iteration& iteration : iterations_) {
      if (iteration.begin > last / 4 && iteration.begin < last * 3 / 4) {
        starts[iteration.warp].push_back(iteration.begin);
        sum += static_cast<double>(iteration.latency);
        ++count;
      }
    }
    LoopTimes times;
    times.latency_cycles = sum / count;
    times.barrier_cycles = barrier_cycles_ / barriers_;
    double spans = 0;
    double periods = 0;
    for (const auto& [warp, begins] : starts) {
      spans += static_cast<double>(begins.back() - begins.front());
      periods += static_cast<double>(begins.size() - 1);
    }
    times.period_cycles = spans / periods;
    return times;
  }

 private:
  struct Iteration {
    std::pair<int, int> warp;
    std::int64_t begin = 0;
    std::int64_t latency = 0;
  };
  Marks marks_;
  double barrier_cycles_ = 0;
  double barriers_ = 0;
  std::map<std::pair<int, int>, std::int64_t> first_load_;
  std::vector<Iteration> iterations_;
};

LoopTimes run(const hw::HwConfig& config, const MemoryLoop& loop, std::uint32_t think,
              std::uint32_t phase_trips, bool touch) {
  const trace::Trace trace = trace_of(loop, think, phase_trips, touch, config.gpu.sm_count);
  trace::validate(trace);
  const Marks marks = marks_of(trace.launches.back().programs[0]);
  LoopWatch watch(marks);
  gpu::SimulationOptions options;
  options.mode = gpu::Mode::detailed;
  options.warm_l2 = true;
  options.observer = &watch;
  gpu::simulate(config, trace, options);
  return watch.times();
}

}  // namespace

LoopTimes run_memory_loop(const hw::HwConfig& config, const MemoryLoop& loop) {
  // What the loop costs besides memory, and what a trip of its waiting loop takes, from one SM alone.
  MemoryLoop lone = loop;
  lone.sms = 1;
  lone.ctas_per_sm = 1;
  constexpr std::uint32_t kTrips = 16;
  const LoopTimes bare = run(config, lone, 0, 0, false);
  const LoopTimes waits = run(config, lone, kTrips, 0, false);
  const LoopTimes alone = run(config, lone, 0, 0, true);
  const double trip_cycles = (waits.period_cycles - bare.period_cycles) / kTrips;
  // Where the loop only writes, think_cycles say nothing of how long its stores take to issue.
  const double least = loop.loads ? alone.period_cycles - alone.barrier_cycles : bare.period_cycles;
  const auto think =
      static_cast<std::uint32_t>(std::max(0L, std::lround((loop.think_cycles - least) / trip_cycles)));
  const auto phases = static_cast<std::uint32_t>((loop.think_cycles + alone.latency_cycles) / trip_cycles);
  LoopTimes times = run(config, loop, think, phases, true);
  times.latency_cycles -= bare.latency_cycles;
  return times;
}

}  // namespace warpscope::validation

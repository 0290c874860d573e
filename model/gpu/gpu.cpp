#include "model/gpu/gpu.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "model/gpu/deadlock.hpp"
#include "model/sm/occupancy.hpp"
#include "model/trace/statistics.hpp"

namespace warpscope::gpu {
namespace {

/// At equal times CTAs end before slices start, so that a slice sees its new CTAs.
constexpr int kCtaEndPriority = 0;
constexpr int kSlicePriority = 1;

std::vector<memory::TensorExtent> tensor_extents(const hw::HwConfig& config, const trace::Trace& trace) {
  std::vector<memory::TensorExtent> extents;
  for (const trace::Tensor& tensor : trace.tensors) {
    const bool local = tensor.kind == trace::TensorKind::local;
    extents.push_back(
        {local ? std::int64_t{config.gpu.sm_count} * sm::kMaxCtas : tensor.segments, tensor.segment_bytes});
  }
  return extents;
}

bool uses_tensor_pipe(const trace::Launch& launch) {
  return std::ranges::any_of(launch.programs, [](const trace::WarpProgram& program) {
    return std::ranges::any_of(program.code, [](const trace::Instruction& instruction) {
      return trace::info(instruction.opcode).pipe == trace::Pipe::tensor;
    });
  });
}

}  // namespace

/// A launch in progress.
struct Gpu::LaunchState {
  const trace::Launch& launch;
  sm::DecodedLaunch decoded;
  CtaDispatcher dispatcher;
  sm::SliceMemo memo;
  sim::EventQueue<Event> events;
  std::vector<sim::Cycles> local_time;    ///< by SM: start of its next slice
  std::vector<bool> slice_pending;        ///< by SM
  std::vector<sim::Cycles> active_since;  ///< by SM
  std::vector<int> resident;              ///< CTAs by SM
  sim::Cycles end = 0;
  std::uint64_t sm_active_cycles = 0;
  std::string deadlock;
  std::optional<WaveSkipper> skipper;
  std::vector<SkippedWaves> skipped;
  std::uint64_t completed = 0;
};

Gpu::Gpu(const sc_core::sc_module_name& name, const hw::HwConfig& config, const trace::Trace& trace)
    : sc_module(name),
      config_(config),
      trace_(trace),
      l2_("l2", config, tensor_extents(config, trace)),
      hbm_("hbm", config, trace.tensors.size()),
      wake_("wake") {
  l2_.hbm_side.bind(hbm_.socket);
  for (int i = 0; i < config.gpu.sm_count; ++i) {
    sms_.push_back(std::make_unique<sm::Sm>(fmt::format("sm{}", i).c_str(), i));
    sms_.back()->memory_side.bind(l2_.sm_side);
  }
  SC_HAS_PROCESS(Gpu);
  SC_METHOD(process_events);
  sensitive << wake_;
  dont_initialize();
}

Gpu::~Gpu() = default;

LaunchCounts Gpu::run(const trace::Launch& launch, const SimulationOptions& options) {
  LaunchCounts counts;
  counts.sm_clock_mhz = uses_tensor_pipe(launch) ? config_.clock.tensor_mhz : config_.clock.max_mhz;
  counts.occupancy = sm::occupancy(config_, launch);
  const int slots = std::min(counts.occupancy.ctas_per_sm, sm::kMaxCtas);
  const std::size_t sms = sms_.size();
  launch_ =
      std::make_unique<LaunchState>(LaunchState{launch,
                                                sm::decode(config_, trace_, launch),
                                                CtaDispatcher(config_, launch, counts.sm_clock_mhz, slots),
                                                {},
                                                {},
                                                std::vector<sim::Cycles>(sms, 0),
                                                std::vector<bool>(sms, false),
                                                std::vector<sim::Cycles>(sms, 0),
                                                std::vector<int>(sms, 0),
                                                0,
                                                0,
                                                {},
                                                {},
                                                {},
                                                0});
  if (options.mode == Mode::fast) {
    launch_->skipper.emplace(launch, static_cast<std::uint64_t>(slots) * sms);
  }
  l2_.begin_launch(counts.sm_clock_mhz, options.warm_l2);
  hbm_.set_sm_clock(counts.sm_clock_mhz);
  hbm_.reset_traffic();
  const bool memoise = options.mode == Mode::fast && !launch_->decoded.needs_register_scoreboard;
  for (const auto& sm : sms_) {
    sm->begin_launch(config_, trace_, launch, launch_->decoded, slots, memoise ? &launch_->memo : nullptr);
  }
  dispatch(0, 0);
  wake_.notify(sc_core::SC_ZERO_TIME);
  sc_core::sc_start();
  if (!launch_->deadlock.empty()) {
    throw DeadlockError(launch_->deadlock);
  }

  counts.cycles = launch_->end + config_.launch.boundary_cycles;
  counts.sm_active_cycles = launch_->sm_active_cycles;
  for (const auto& sm : sms_) {
    counts.counters.add(sm->core().counters());
    counts.stepped += sm->executed();
  }
  counts.l2 = l2_.traffic();
  counts.hbm = hbm_.traffic();
  add_skipped(counts);
  for (const std::uint64_t issued : counts.counters.issued_by_opcode) {
    counts.instructions += issued;
  }
  return counts;
}

void Gpu::consider_skipping(sim::Cycles now) {
  LaunchState& state = *launch_;
  if (!state.skipper || !state.skipper->window_ends(state.completed)) {
    return;
  }
  Progress progress;
  progress.time = now;
  for (const auto& sm : sms_) {
    const sm::SmCounters& counters = sm->core().counters();
    progress.data_path_cycles += counters.data_path_cycles;
    std::ranges::transform(progress.stall_warp_cycles, counters.stall_warp_cycles,
                           progress.stall_warp_cycles.begin(), std::plus<>{});
  }
  progress.l2 = l2_.traffic();
  progress.hbm = hbm_.traffic();
  if (auto skipped = state.skipper->observe(std::move(progress), state.dispatcher.dispatched())) {
    state.dispatcher.skip(skipped->ctas);
    state.skipped.push_back(*std::move(skipped));
  }
}

void Gpu::add_skipped(LaunchCounts& counts) const {
  const std::vector<SkippedWaves>& pieces = launch_->skipped;
  if (pieces.empty()) {
    return;
  }
  // The instructions of a CTA follow from its program alone, so those of the CTAs left out are counted from
  // the trace. Bytes scale with the number of CTAs. What depends on time and on the cache continues at the
  // rate of the windows before each piece.
  for (const auto& [opcode, count] : trace::executed_instructions(launch_->launch)) {
    counts.counters.issued_by_opcode[static_cast<std::size_t>(opcode)] = count;
  }
  const std::uint64_t ctas = trace::cta_count(launch_->launch);
  std::uint64_t executed = ctas;
  for (const SkippedWaves& piece : pieces) {
    executed -= piece.ctas;
  }
  const auto scale = [&](std::uint64_t& count) {
    count = count / executed * ctas + count % executed * ctas / executed;
  };
  scale(counts.counters.shared_load_wavefronts);
  scale(counts.counters.shared_store_wavefronts);
  for (memory::L2Traffic& traffic : counts.l2) {
    scale(traffic.read_bytes);
    scale(traffic.write_bytes);
  }
  for (const SkippedWaves& piece : pieces) {
    const auto extend = [&](std::uint64_t& count, std::uint64_t before, std::uint64_t after) {
      count += (after - before) * piece.windows / piece.averaged;
    };
    extend(counts.counters.data_path_cycles, piece.before.data_path_cycles, piece.after.data_path_cycles);
    for (std::size_t i = 0; i < metrics::kStallReasons; ++i) {
      extend(counts.counters.stall_warp_cycles[i], piece.before.stall_warp_cycles[i],
             piece.after.stall_warp_cycles[i]);
    }
    for (std::size_t t = 0; t < counts.l2.size(); ++t) {
      extend(counts.l2[t].read_hit_bytes, piece.before.l2[t].read_hit_bytes,
             piece.after.l2[t].read_hit_bytes);
      extend(counts.hbm[t].read_bytes, piece.before.hbm[t].read_bytes, piece.after.hbm[t].read_bytes);
      extend(counts.hbm[t].write_bytes, piece.before.hbm[t].write_bytes, piece.after.hbm[t].write_bytes);
    }
    const auto cycles =
        static_cast<std::uint64_t>(piece.after.time - piece.before.time) * piece.windows / piece.averaged;
    counts.cycles += static_cast<sim::Cycles>(cycles);
    counts.sm_active_cycles += cycles * sms_.size();
  }
}

void Gpu::dispatch(sim::Cycles slot_ready, sim::Cycles now) {
  LaunchState& state = *launch_;
  while (const auto next = state.dispatcher.next(slot_ready)) {
    const auto sm = static_cast<std::size_t>(next->sm);
    sm::ResidentCta cta;
    cta.block = next->block;
    cta.cta_class =
        &state.launch.classes[trace::class_of(state.launch, cta.block[0], cta.block[1], cta.block[2])];
    if (!state.slice_pending[sm]) {
      state.local_time[sm] = std::max(state.local_time[sm], now);
      state.slice_pending[sm] = true;
      state.events.push(state.local_time[sm], kSlicePriority, {Event::Kind::slice, next->sm});
    }
    if (state.resident[sm]++ == 0) {
      state.active_since[sm] = next->start;
    }
    sms_[sm]->install(sms_[sm]->core().first_free_slot(), cta, next->start, state.local_time[sm]);
  }
  l2_.set_active_sms(state.dispatcher.active_sms());
}

void Gpu::run_slice(int sm_index, sim::Cycles now) {
  LaunchState& state = *launch_;
  const auto sm = static_cast<std::size_t>(sm_index);
  const sm::Slice slice = sms_[sm]->run_slice(now);
  if (slice.deadlock) {
    report_deadlock(*sms_[sm]);
  }
  for (const auto& [time, slot] : slice.completions) {
    state.events.push(now + time, kCtaEndPriority, {Event::Kind::cta_end, sm_index});
  }
  state.local_time[sm] = now + slice.end;
  state.slice_pending[sm] = !sms_[sm]->core().idle();
  if (state.slice_pending[sm]) {
    state.events.push(state.local_time[sm], kSlicePriority, {Event::Kind::slice, sm_index});
  }
}

void Gpu::process_events() {
  LaunchState& state = *launch_;
  while (!state.events.empty()) {
    const auto event = state.events.pop();
    const auto sm = static_cast<std::size_t>(event.payload.sm);
    if (event.payload.kind == Event::Kind::slice) {
      try {
        run_slice(event.payload.sm, event.time);
      } catch (const DeadlockError& error) {
        state.deadlock = error.what();
        return;
      }
    } else {
      state.dispatcher.release(event.payload.sm);
      ++state.completed;
      consider_skipping(event.time);
      if (--state.resident[sm] == 0) {
        state.sm_active_cycles += static_cast<std::uint64_t>(event.time + 1 - state.active_since[sm]);
      }
      const std::int32_t ports =
          std::max(sms_[sm]->core().state().l2_port_units, sms_[sm]->core().state().dram_port_units) /
          memory::kPortUnits;
      state.end = std::max({state.end, event.time, state.local_time[sm] + ports});
      const hw::Issue& issue = config_.sm.issue;
      dispatch(event.time + issue.cta_turnaround_cycles - issue.cta_turnaround_spread_cycles / 2, event.time);
    }
  }
}

void Gpu::report_deadlock(const sm::Sm& sm) const {
  const sm::DecodedLaunch& decoded = launch_->decoded;
  std::string warps;
  for (const auto& [warp, pc] : sm.core().waiting_warps()) {
    const auto after = std::ranges::upper_bound(decoded.program_begin, pc);
    const auto program = static_cast<std::size_t>(after - decoded.program_begin.begin()) - 1;
    const std::uint32_t number = pc - decoded.program_begin[program];
    const trace::WarpProgram& text = launch_->launch.programs[program];
    warps += fmt::format(
        "{}warp {} at {}:{} ({}{})", warps.empty() ? "" : ", ", warp, text.name, number,
        number > 0 && trace::info(text.code[number - 1].opcode).op_class == trace::OpClass::barrier
            ? "behind "
            : "",
        trace::info(text.code[number > 0 ? number - 1 : 0].opcode).name);
  }
  throw DeadlockError(fmt::format("deadlock in launch '{}' on SM {}: no warp can make progress; waiting: {}",
                                  launch_->launch.name, sm.index(), warps));
}

}  // namespace warpscope::gpu

#include "model/gpu/gpu.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <limits>
#include <span>

#include "model/base/spread_hash.hpp"
#include "model/gpu/deadlock.hpp"
#include "model/gpu/extrapolation.hpp"
#include "model/gpu/launch_metrics.hpp"
#include "model/gpu/launch_state.hpp"
#include "model/gpu/time_limit.hpp"
#include "model/sm/occupancy.hpp"
#include "model/sm/turnaround.hpp"
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

/// Some number below `count`, evenly spread over CTAs.
int turn_of(std::uint64_t cta, int count) {
  return static_cast<int>(spread_hash(cta + 1) % static_cast<std::uint64_t>(count));
}

}  // namespace

Gpu::Gpu(const sc_core::sc_module_name& name, const hw::HwConfig& config, const trace::Trace& trace,
         const SimulationOptions& options, std::vector<std::vector<SmGroup>> groups_of_launches)
    : sc_module(name),
      config_(config),
      trace_(trace),
      options_(options),
      groups_(std::move(groups_of_launches)),
      l2_("l2", config, tensor_extents(config, trace)),
      hbm_("hbm", config, trace.tensors.size()),
      wake_("wake") {
  l2_.hbm_side.bind(hbm_.socket);
  std::size_t most = 0;
  for (const std::vector<SmGroup>& groups : groups_) {
    most = std::max(most, groups.size());
  }
  for (std::size_t i = 0; i < most; ++i) {
    sms_.push_back(std::make_unique<sm::Sm>(fmt::format("sm{}", i).c_str()));
    sms_.back()->memory_side.bind(l2_.sm_side);
  }
  SC_HAS_PROCESS(Gpu);
  SC_METHOD(process_events);
  sensitive << wake_;
  dont_initialize();
}

Gpu::~Gpu() = default;

LaunchCounts Gpu::run(std::size_t index) {
  const trace::Launch& launch = trace_.launches[index];
  const std::vector<SmGroup>& groups = groups_[index];
  LaunchCounts counts;
  counts.sm_clock_mhz = trace::uses_tensor_pipe(launch) ? config_.clock.tensor_mhz : config_.clock.max_mhz;
  counts.occupancy = sm::occupancy(config_, launch);
  const int slots = std::min(counts.occupancy.ctas_per_sm, sm::kMaxCtas);
  const bool fast = options_.mode == Mode::fast;
  launch_.reset(new LaunchState{
      .launch = launch,
      .decoded = sm::decode(config_, trace_, launch),
      .dispatcher = CtaDispatcher(config_, launch, counts.sm_clock_mhz, slots, groups),
      .sample = Sample(groups, slots, launch.classes.size()),
      .sms = std::span(sms_).first(groups.size()),
      .groups = std::vector<LaunchState::GroupState>(groups.size()),
  });
  if (fast) {
    launch_->skipper.emplace(launch, static_cast<std::uint64_t>(slots * config_.gpu.sm_count),
                             config_.l2.capacity_bytes);
    if (!launch_->skipper->may_skip()) {
      launch_->path_watch.emplace(config_.l2.capacity_bytes);
    }
  }
  l2_.begin_launch(counts.sm_clock_mhz, options_.warm_l2);
  hbm_.set_sm_clock(counts.sm_clock_mhz);
  hbm_.reset_traffic();
  for (std::size_t i = 0; i < groups.size(); ++i) {
    sms_[i]->stand_for(groups[i]);
    sms_[i]->begin_launch(config_, trace_, launch, launch_->decoded, slots, fast ? &launch_->memo : nullptr);
    sms_[i]->watch(options_.observer);
  }
  if (options_.observer != nullptr) {
    tell_begin(counts.sm_clock_mhz, slots);
  }
  dispatch(0, 0);
  wake_.notify(sc_core::SC_ZERO_TIME);
  sc_core::sc_start();
  if (launch_->failure) {
    std::rethrow_exception(launch_->failure);
  }

  counts.cycles = launch_->end;
  counts.sm_active_cycles = launch_->sm_active_cycles;
  counts.counters = counters();
  for (const auto& sm : launch_->sms) {
    counts.stepped += sm->executed();
  }
  counts.l2 = l2_.traffic();
  counts.hbm = hbm_.traffic();
  if (fast) {
    launch_->sample.demand.resize(trace_.tensors.size());
    for (const auto& sm : launch_->sms) {
      for (std::size_t t = 0; t < trace_.tensors.size(); ++t) {
        launch_->sample.demand[t].add(sm->demand()[t]);
      }
    }
    extrapolate(counts, config_, trace_, launch, launch_->sample);
  }
  counts.cycles += config_.launch.boundary_cycles;
  if (options_.observer != nullptr) {
    options_.observer->launch_ends(counts.cycles);
  }
  for (const std::uint64_t issued : counts.counters.issued_by_opcode) {
    counts.instructions += issued;
  }
  return counts;
}

sm::SmCounters Gpu::counters() const {
  sm::SmCounters sum = launch_->memo.counters();
  for (const auto& sm : launch_->sms) {
    sum.add(sm->counters());
  }
  return sum;
}

metrics::MovedBytes Gpu::moved() const {
  metrics::MovedBytes sum;
  for (const memory::L2Traffic& tensor : l2_.traffic()) {
    sum.l2_read += tensor.read_bytes;
    sum.l2_read_hit += tensor.read_hit_bytes;
    sum.l2_write += tensor.write_bytes;
  }
  for (const memory::HbmTraffic& tensor : hbm_.traffic()) {
    sum.hbm_read += tensor.read_bytes;
    sum.hbm_write += tensor.write_bytes;
  }
  return sum;
}

void Gpu::tell_begin(double sm_clock_mhz, int cta_slots) const {
  options_.observer->launch_begins({.trace = &trace_,
                                    .launch = &launch_->launch,
                                    .sm_clock_mhz = sm_clock_mhz,
                                    .gap_us = launch_gap_us(config_),
                                    .sms = config_.gpu.sm_count,
                                    .sub_cores = config_.sm.sub_cores,
                                    .cta_slots = cta_slots});
}

Progress Gpu::progress(sim::Cycles now) const {
  const sm::SmCounters counted = counters();
  Progress progress;
  progress.time = now;
  progress.work = launch_->work_at(now);
  progress.l2_bytes = l2_.used_bytes();
  progress.stall_warp_cycles = counted.stall_warp_cycles;
  progress.pipe_busy_cycles = counted.pipe_busy_cycles;
  progress.data_path_cycles = counted.data_path_cycles;
  progress.shared_load_wavefronts = counted.shared_load_wavefronts;
  progress.shared_store_wavefronts = counted.shared_store_wavefronts;
  progress.hbm = hbm_.traffic();
  return progress;
}

void Gpu::consider_paths(int group, sim::Cycles now) {
  LaunchState& state = *launch_;
  // One SM's windows are those of the chip.
  if (!state.path_watch || group != state.first_busy_group()) {
    return;
  }
  sim::Cycles room = std::numeric_limits<sim::Cycles>::max();
  for (std::size_t i = 0; i < state.groups.size(); ++i) {
    room = std::min(room, state.groups[i].resident > 0 ? state.sms[i]->room() : room);
  }
  auto order = state.path_watch->observe(progress(now), room);
  if (!order) {
    return;
  }
  state.steady_load = l2_.mean_load(order->windows_since, now);
  state.sample.left_out.push_back(std::move(order->left_out));
  for (std::size_t i = 0; i < state.groups.size(); ++i) {
    if (state.groups[i].resident > 0) {
      state.sms[i]->leave_out(order->cycles, order->windows);
    }
  }
}

void Gpu::consider_skipping(sim::Cycles now) {
  LaunchState& state = *launch_;
  if (!state.skipper || !state.skipper->window_ends(state.completed)) {
    return;
  }
  if (auto skipped = state.skipper->observe(progress(now), state.dispatcher.dispatched())) {
    state.skipped_cycles += skipped->repeats * static_cast<double>(skipped->part.time);
    require_time(state.launch, static_cast<double>(now) + state.skipped_cycles);
    state.dispatcher.skip(skipped->ctas);
    state.sample.skipped.push_back(*std::move(skipped));
  }
}

sm::SlotMembers Gpu::members_of(const Dispatch& dispatch) const {
  const trace::Launch& launch = launch_->launch;
  sm::SlotMembers members;
  members.apart_cycles = dispatch.apart_cycles;
  for (const std::uint64_t number : dispatch.ctas) {
    sm::ResidentCta cta;
    cta.block = trace::block_of(launch, number);
    cta.cta_class = &launch.classes[trace::class_of(launch, cta.block[0], cta.block[1], cta.block[2])];
    members.ctas.push_back(cta);
  }
  // Of CTAs of unequal length each gets its turn to stand for the others, so that those that share an SM meet
  // in all the ways in which they do on the chip; extrapolate() settles what that does to the work.
  const auto [least, most] =
      std::ranges::minmax(members.ctas, {}, [](const sm::ResidentCta& cta) { return cta.cta_class; });
  const bool alike = least.cta_class == most.cta_class;
  const auto count = static_cast<int>(dispatch.ctas.size());
  members.representative = alike ? (count - 1) / 2 : turn_of(dispatch.ctas.front(), count);
  return members;
}

void Gpu::dispatch(sim::Cycles slot_ready, sim::Cycles now) {
  LaunchState& state = *launch_;
  while (const auto next = state.dispatcher.next(slot_ready)) {
    LaunchState::GroupState& group = state.groups[static_cast<std::size_t>(next->group)];
    sm::Sm& sm = *sms_[static_cast<std::size_t>(next->group)];
    if (!group.slice_pending) {
      group.local_time = std::max(group.local_time, now);
      group.slice_pending = true;
      state.events.push(group.local_time, kSlicePriority, {Event::Kind::slice, next->group});
    }
    sm::SlotMembers members = members_of(*next);
    const trace::CtaClass* simulated =
        members.ctas[static_cast<std::size_t>(members.representative)].cta_class;
    const auto number = static_cast<std::size_t>(simulated - state.launch.classes.data());
    state.sample.simulated.push_back(number);
    state.sample.ctas_of_class[number] += next->ctas.size();
    const int slot = sm.core().first_free_slot();
    group.resident_ctas[static_cast<std::size_t>(slot)] = {state.sample.simulated.size() - 1, number,
                                                           next->start};
    if (options_.observer != nullptr) {
      options_.observer->cta_begins({.sm = sm.first_sm(),
                                     .slot = slot,
                                     .number = next->ctas.front(),
                                     .block = members.ctas.front().block,
                                     .cta_class = number,
                                     .cycle = next->start});
    }
    sm.install(slot, std::move(members), next->start, group.local_time);
    if (group.resident++ == 0) {
      group.active_since = next->start;
    }
    state.set_active(group, sm.active_sms(), std::max(next->start, group.active_since));
  }
  l2_.set_active_sms(state.dispatcher.active_sms());
}

void Gpu::run_slice(int index, sim::Cycles now) {
  LaunchState& state = *launch_;
  LaunchState::GroupState& group = state.groups[static_cast<std::size_t>(index)];
  sm::Sm& sm = *sms_[static_cast<std::size_t>(index)];
  const int residents = sm.core().cta_slots() - sm.core().free_slots();
  const bool began_in_loops = sm.in_loops();
  const metrics::MovedBytes moved_before = options_.observer != nullptr ? moved() : metrics::MovedBytes{};
  const sm::Slice slice = sm.run_slice(now);
  if (options_.observer != nullptr) {
    options_.observer->moved(now, now + slice.end, moved() - moved_before);
  }
  state.sample.pace.observe(static_cast<std::size_t>(index), residents,
                            began_in_loops && sm.in_loops() && slice.completions.empty(), slice.end,
                            slice.issued);
  if (slice.deadlock) {
    report_deadlock(sm);
  }
  const double work = static_cast<double>(slice.issued) * sm.active_sms();
  if (slice.left_out) {
    LeftOut& last = state.sample.left_out.back();
    last.repeats += work / last.part.work;
    int active = 0;
    for (const auto& busy : state.sms) {
      active += busy->active_sms();
    }
    l2_.add_load(state.steady_load, static_cast<double>(sm.active_sms()) / active, now, now + slice.end);
  } else {
    group.work += work;
    group.work_per_cycle = work / slice.end;
  }
  for (const auto& [time, slot] : slice.completions) {
    const LaunchState::GroupState::Resident& cta = group.resident_ctas[slot];
    state.sample.scatter.observe(cta.number, static_cast<std::size_t>(index), cta.cta_class,
                                 now + time - cta.start);
    if (options_.observer != nullptr) {
      options_.observer->cta_ends(sm.first_sm(), slot, now + time + 1);
    }
    state.events.push(now + time, kCtaEndPriority, {Event::Kind::cta_end, index, sm.members(slot)});
  }
  group.local_time = now + slice.end;
  if (sm.window_ended()) {
    consider_paths(index, group.local_time);
  }
  group.slice_pending = !sm.core().idle();
  if (group.slice_pending) {
    state.events.push(group.local_time, kSlicePriority, {Event::Kind::slice, index});
  }
}

void Gpu::end_ctas(int index, int ctas, sim::Cycles now) {
  LaunchState& state = *launch_;
  LaunchState::GroupState& group = state.groups[static_cast<std::size_t>(index)];
  const sm::Sm& sm = *sms_[static_cast<std::size_t>(index)];
  state.dispatcher.release(index);
  state.completed += static_cast<std::uint64_t>(ctas);
  if (state.path_watch) {
    state.path_watch->start_anew();
  }
  consider_skipping(now);
  const bool last = --group.resident == 0;
  state.set_active(group, last ? 0 : sm.active_sms(), now + (last ? 1 : 0));
  const std::int64_t ports =
      std::max(sm.core().state().l2_port_units, sm.core().state().dram_port_units) / memory::kPortUnits;
  state.end = std::max({state.end, now, group.local_time + ports});
  dispatch(now + sm::turnaround(config_.sm.issue).shortest_cycles, now);
}

void Gpu::process_events() {
  LaunchState& state = *launch_;
  try {
    while (!state.events.empty()) {
      const auto event = state.events.pop();
      require_time(state.launch, static_cast<double>(event.time));
      if (event.payload.kind == Event::Kind::slice) {
        run_slice(event.payload.group, event.time);
      } else {
        end_ctas(event.payload.group, event.payload.ctas, event.time);
      }
    }
  } catch (...) {
    // SystemC would make a report of its own of it, which hides what it was.
    state.failure = std::current_exception();
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
                                  launch_->launch.name, sm.first_sm(), warps));
}

}  // namespace warpscope::gpu

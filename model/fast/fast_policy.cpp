#include "model/fast/fast_policy.hpp"

#include <algorithm>
#include <utility>

#include "model/base/spread_hash.hpp"
#include "model/fast/group_policy.hpp"
#include "model/sm/occupancy.hpp"
#include "model/trace/statistics.hpp"

namespace warpscope::fast {
namespace {

int slots_of(const hw::HwConfig& config, const trace::Launch& launch) {
  return std::min(sm::occupancy(config, launch).ctas_per_sm, sm::kMaxCtas);
}

/// Some number below `count`, evenly spread over CTAs.
int chance_below(std::uint64_t cta, int count) {
  return static_cast<int>(spread_hash(cta + 1) % static_cast<std::uint64_t>(count));
}

}  // namespace

FastPolicy::FastPolicy(const hw::HwConfig& config, const trace::Trace& trace, const trace::Launch& launch,
                       memory::MemorySystem& memory, const std::vector<gpu::SmGroup>& groups)
    : config_(config),
      trace_(trace),
      launch_(launch),
      slots_(static_cast<std::uint64_t>(slots_of(config, launch) * config.gpu.sm_count)),
      groups_(groups),
      simulated_(groups),
      memory_(memory),
      class_work_(trace::instructions_per_cta(launch)),
      like_ctas_(has_like_ctas(launch)),
      sample_(groups, slots_of(config, launch), launch.classes.size()),
      skipper_(launch, slots_, config.l2.capacity_bytes, l2_period(trace, launch)),
      whole_(std::ranges::all_of(groups, [](const gpu::SmGroup& group) { return group.sms == 1; }) &&
             launch.mbarriers.empty() &&
             static_cast<double>(trace::total(trace::executed_instructions(launch))) <= kWholeOfOneWave),
      sms_(groups.size()),
      left_out_(trace.tensors.size()) {
  const bool sampled = std::ranges::any_of(groups, [](const gpu::SmGroup& group) { return group.sms > 1; });
  const bool in_step = (like_ctas_ && has_like_paths(launch)) || !launch.mbarriers.empty();
  if (sampled && !in_step && trace::cta_count(launch) > slots_) {
    unsimulated_ = UnsimulatedCtas::of(config, trace, launch, slots_of(config, launch));
    constexpr std::uint64_t kMost = 1U << 30;
    const std::uint64_t iteration = class_work_.front() / most_turns(launch);
    first_begin_within_ = like_ctas_ ? static_cast<int>(std::clamp<std::uint64_t>(iteration, 1, kMost)) : 1;
  }
  sample_.alike = like_ctas_ && !unsimulated_;
  sample_.at_once = trace::cta_count(launch) <= slots_ && !unsimulated_;
  if (unsimulated_) {
    if (waits_for_code(launch)) {
      groups_ = simulated_ = simulated_in_tpcs(groups);
    }
    std::ranges::for_each(simulated_, [](gpu::SmGroup& group) { group.sms = 1; });
  }
}

void FastPolicy::attach(engine::Engine& engine) {
  engine_ = &engine;
  passes_.emplace(engine.decoded(), engine.window_cycles(), config_.l2.capacity_bytes);
}

engine::RequestTap* FastPolicy::tap(std::size_t sm, const sm::DecodedLaunch& decoded, int cta_slots) {
  sms_[sm].echo = std::make_unique<Echo>(trace_, decoded, cta_slots, simulated_[sm], config_.l2);
  sms_[sm].coaster = std::make_unique<Coaster>(decoded, paces_);
  return sms_[sm].echo.get();
}

sm::ResidentCta FastPolicy::begin_ctas(const gpu::Dispatch& dispatch, int slot) {
  SlotMembers members;
  members.apart_cycles = dispatch.apart_cycles;
  for (const std::uint64_t number : dispatch.ctas) {
    sm::ResidentCta cta;
    cta.block = trace::block_of(launch_, number);
    cta.cta_class = &launch_.classes[trace::class_of(launch_, cta.block[0], cta.block[1], cta.block[2])];
    members.ctas.push_back(cta);
  }
  // Of CTAs of unequal length each gets its turn to stand for the others, so that those that share an SM meet
  // in all the ways in which they do on the chip; extrapolate() settles what that does to the work. Where
  // they all run at once the longest decides when the launch ends.
  const auto [least, most] =
      std::ranges::minmax(members.ctas, {}, [](const sm::ResidentCta& cta) { return cta.cta_class; });
  const bool alike = least.cta_class == most.cta_class;
  const auto count = static_cast<int>(dispatch.ctas.size());
  const auto class_number = [&](const sm::ResidentCta& cta) {
    return static_cast<std::size_t>(cta.cta_class - launch_.classes.data());
  };
  const auto longest = std::ranges::max_element(
      members.ctas, {}, [&](const sm::ResidentCta& cta) { return class_work_[class_number(cta)]; });
  members.representative = alike             ? (count - 1) / 2
                           : sample_.at_once ? static_cast<int>(longest - members.ctas.begin())
                                             : chance_below(dispatch.ctas.front(), count);
  const sm::ResidentCta simulated = members.ctas[static_cast<std::size_t>(members.representative)];
  const std::size_t cta_class = class_number(simulated);
  const std::size_t number = sample_.simulated_ctas++;
  const auto group = static_cast<std::size_t>(dispatch.group);
  sample_.ctas_of_class[cta_class] +=
      unsimulated_ ? static_cast<std::uint64_t>(groups_[group].sms) : dispatch.ctas.size();
  Sampled& sampled = sms_[group];
  sampled.residents[static_cast<std::size_t>(slot)] = {number, cta_class, dispatch.start, true};
  sampled.echo->install(slot, std::move(members));
  update_active(group);
  sampled.coaster->begin(static_cast<std::size_t>(slot));
  passes_->start_anew();
  if (unsimulated_) {
    fill_chip();
  }
  return simulated;
}

void FastPolicy::fill_chip() {
  gpu::CtaDispatcher& dispatcher = engine_->dispatcher();
  const auto sms = static_cast<std::uint64_t>(config_.gpu.sm_count);
  for (; dispatcher.dispatched() < slots_; dispatcher.skip(1)) {
    const std::uint64_t cta = dispatcher.dispatched();
    const auto sm = static_cast<int>(cta % sms);
    if (std::ranges::find(groups_, sm, &gpu::SmGroup::first_sm) != groups_.end()) {
      return;
    }
    const int late = chance_below(cta, first_begin_within_);
    unsimulated_->begin(
        cta, {.sm = sm, .slot = static_cast<int>(cta / sms), .for_instructions = -static_cast<double>(late)});
  }
}

void FastPolicy::advance_unsimulated(sim::Cycles now) {
  gpu::CtaDispatcher& dispatcher = engine_->dispatcher();
  for (const FreeSlot& slot : unsimulated_->advance(now, memory_)) {
    if (!dispatcher.done()) {
      unsimulated_->begin(dispatcher.dispatched(), slot);
      dispatcher.skip(1);
    }
  }
}

void FastPolicy::observe_pace(double instructions, int residents, sim::Cycles cycles) {
  if (unsimulated_) {
    unsimulated_->observe(instructions, static_cast<double>(cycles * residents));
  }
}

void FastPolicy::update_active(std::size_t sm) {
  int most = 0;
  for (std::size_t slot = 0; slot < sms_[sm].residents.size(); ++slot) {
    most = std::max(most,
                    sms_[sm].residents[slot].occupied ? sms_[sm].echo->members(static_cast<int>(slot)) : 0);
  }
  sms_[sm].active = unsimulated_ && most > 0 ? groups_[sm].sms : most;
}

int FastPolicy::residents(std::size_t sm) const {
  return static_cast<int>(
      std::ranges::count_if(sms_[sm].residents, [](const Resident& cta) { return cta.occupied; }));
}

bool FastPolicy::in_loops(std::size_t sm) const {
  const sm::SmCore& core = engine_->sms()[sm]->core();
  for (int slot = 0; slot < core.cta_slots(); ++slot) {
    const int warp = slot * static_cast<int>(engine_->decoded().warps_per_cta);
    if (core.cta(slot).occupied && core.loop_counters_of(warp).trips[0] == 0) {
      return false;
    }
  }
  return true;
}

LaunchProgress FastPolicy::progress(sim::Cycles now) {
  for (std::size_t sm = 0; sm < sms_.size(); ++sm) {
    if (sms_[sm].coasting) {
      count_coast(sm, now);
    }
  }
  LaunchProgress progress;
  progress.time = now;
  progress.work = static_cast<double>(counted_.issued());
  progress.l2_bytes = engine_->memory().used_bytes();
  progress.counted = counted_;
  for (const metrics::MovedBytes& tensor : engine_->memory().traffic()) {
    const HbmBytes& left_out = left_out_[progress.hbm.size()];
    progress.hbm.push_back({tensor.hbm_read + left_out.read_bytes, tensor.hbm_write + left_out.write_bytes});
  }
  return progress;
}

void FastPolicy::end_cta(std::size_t sm, int slot, sim::Cycles time) {
  Sampled& sampled = sms_[sm];
  Resident& cta = sampled.residents[static_cast<std::size_t>(slot)];
  sample_.scatter.observe(cta.number, sm, cta.cta_class, time - cta.start);
  cta.occupied = false;
  update_active(sm);
  sampled.coaster->end(static_cast<std::size_t>(slot));
  if (engine_->dispatcher().done()) {
    paces_.clear();  // those that are left on the chip go on faster
  }
  passes_->start_anew();
}

std::vector<int> FastPolicy::members() const {
  std::vector<int> result;
  for (std::size_t sm = 0; sm < sms_.size(); ++sm) {
    result.push_back(active_sms(sm));
  }
  return result;
}

bool FastPolicy::allows_gaps() const {
  return std::ranges::all_of(sms_, [](const Sampled& sm) {
    return !sm.coasting || std::ranges::all_of(sm.coasting->stretches, &std::vector<Stretch>::empty);
  });
}

void FastPolicy::end_window(sim::Cycles begin, sim::Cycles end) {
  if (end <= last_end_) {
    return;
  }
  const sim::Cycles last_end = std::exchange(last_end_, end);
  if (end % memory::kBackgroundCycles == 0) {
    for (Sampled& sampled : sms_) {
      sampled.echo->release(end, memory_);
    }
    if (unsimulated_) {
      advance_unsimulated(end);
    }
  }
  for (std::size_t sm = 0; sm < sms_.size(); ++sm) {
    Sampled& sampled = sms_[sm];
    engine::SmUnit& unit = *engine_->sms()[sm];
    const std::optional<sm::SmCounters> counted = unit.take_counted();
    const std::uint64_t issued = counted ? counted->issued() : 0;
    stepped_ += issued;
    if (counted) {
      // Of a group that has just ended its last CTAs the number that had work is no longer known.
      const int last_active = sampled.coasting ? 0 : sampled.last_active;
      counted_.add(*counted, static_cast<std::uint64_t>(std::max({1, active_sms(sm), last_active})));
    }
    if (sampled.coasting) {
      coast(sm, last_end, end);
      continue;
    }
    sampled.last_active = active_sms(sm);
    const int resident = residents(sm);
    if (resident == 0) {
      continue;
    }
    if (counted) {
      sampled.counted.add(*counted);
    }
    const bool now_in_loops = in_loops(sm);
    // Windows in which all simulated SMs wait are not run; their time counts all the same. Unequal CTAs,
    // whose schedule comes out late without it, come nearer to detailed mode where it does not.
    const sim::Cycles elapsed = end - (unsimulated_ ? begin : last_end);
    observe_pace(static_cast<double>(issued), resident, elapsed);
    sample_.pace.observe(sm, resident, sampled.was_in_loops && now_in_loops && unit.completions().empty(),
                         elapsed, issued);
    sampled.was_in_loops = now_in_loops;
    if (whole_) {
      continue;
    }
    if (auto coast = sampled.coaster->consider(unit.core(), sampled.counted, unit.origin(), end)) {
      begin_coast(sm, *std::move(coast), end);
    }
  }
  if (skipper_.window_ends(engine_->dispatcher().dispatched())) {
    end_wave(end);
  }
  if (!whole_ && !unsimulated_ && passes_->applies() && passes_->part_ends(engine_->sms(), end)) {
    if (const auto skipped = passes_->observe(progress(end), members())) {
      skip(*skipped, end);
    }
  }
}

gpu::LaunchCounts FastPolicy::finish() {
  for (Sampled& sampled : sms_) {
    sampled.echo->release(engine_->now(), memory_);
  }
  if (unsimulated_) {
    unsimulated_->finish(engine_->now(), memory_);
  }
  gpu::LaunchCounts counts = engine_->counts();
  for (std::size_t t = 0; t < left_out_.size(); ++t) {
    counts.tensors[t].hbm_read += left_out_[t].read_bytes;
    counts.tensors[t].hbm_write += left_out_[t].write_bytes;
  }
  counts.counters = counted_;
  counts.stepped = stepped_;
  if (whole_ && !sample_.skipped) {
    return counts;  // nothing was left out
  }
  Sample sample = sample_;
  sample.demand.resize(trace_.tensors.size());
  for (const Sampled& sampled : sms_) {
    for (std::size_t t = 0; t < trace_.tensors.size(); ++t) {
      sample.demand[t].add(sampled.echo->demand()[t]);
    }
  }
  for (std::size_t t = 0; unsimulated_ && t < trace_.tensors.size(); ++t) {
    sample.demand[t].add_inside(unsimulated_->demand()[t]);
  }
  extrapolate(counts, config_, trace_, launch_, sample);
  return counts;
}

}  // namespace warpscope::fast

#include "model/engine/engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "model/engine/window.hpp"
#include "model/gpu/deadlock.hpp"
#include "model/gpu/launch_clock.hpp"
#include "model/gpu/launch_metrics.hpp"
#include "model/gpu/time_limit.hpp"
#include "model/sm/occupancy.hpp"
#include "model/sm/turnaround.hpp"

namespace warpscope::engine {
namespace {

std::vector<gpu::SmGroup> every_sm(const hw::HwConfig& config) {
  std::vector<gpu::SmGroup> sms;
  sms.reserve(static_cast<std::size_t>(config.gpu.sm_count));
  for (int sm = 0; sm < config.gpu.sm_count; ++sm) {
    sms.push_back({sm, 1});
  }
  return sms;
}

}  // namespace

Engine::Engine(const hw::HwConfig& config, const trace::Trace& trace, const trace::Launch& launch,
               memory::Memory& memory, ThreadTeam& team, const EngineOptions& options, Policy* policy)
    : config_(config),
      trace_(trace),
      launch_(launch),
      memory_(memory),
      team_(team),
      options_(options),
      policy_(policy),
      sm_clock_mhz_(gpu::launch_clock_mhz(config, launch)),
      occupancy_(sm::occupancy(config, launch)),
      decoded_(sm::decode(config, trace, launch)),
      dispatcher_(config, launch, sm_clock_mhz_, std::min(occupancy_.ctas_per_sm, sm::kMaxCtas),
                  policy != nullptr ? policy->groups() : every_sm(config)),
      window_(engine::window_cycles(config, memory.least_latency_cycles(), options.window_divisor)),
      code_path_(config, decoded_.code_lines, options.code_in_l2,
                 engine::window_cycles(config, memory.least_latency_cycles())) {
  for (const gpu::SmGroup& group : policy != nullptr ? policy->groups() : every_sm(config)) {
    RequestTap* tap = policy != nullptr ? policy->tap(sms_.size(), decoded_, cta_slots()) : nullptr;
    sms_.push_back(
        std::make_unique<SmUnit>(config, trace, decoded_, cta_slots(), group.first_sm, memory, tap));
    sms_.back()->supply_code(code_path_.supply());
    asked_.push_back(&sms_.back()->asked());
  }
  residents_.resize(sms_.size());
  events_.resize(sms_.size());
  if (options_.observer != nullptr) {
    tell_begin();
  }
}

void Engine::set_active(std::size_t sm, int active, sim::Cycles time) {
  Residents& residents = residents_[sm];
  if (time > residents.since) {
    sm_active_cycles_ +=
        static_cast<std::uint64_t>(residents.active) * static_cast<std::uint64_t>(time - residents.since);
    residents.since = time;
  }
  residents.active = active;
}

void Engine::dispatch(sim::Cycles slot_ready) {
  while (const auto next = dispatcher_.next(slot_ready)) {
    const auto number = static_cast<std::size_t>(next->group);
    const int slot = sms_[number]->core().first_free_slot();
    sm::ResidentCta cta;
    if (policy_ != nullptr) {
      cta = policy_->begin_ctas(*next, slot);
    } else {
      cta.block = trace::block_of(launch_, next->ctas.front());
      cta.cta_class = &launch_.classes[trace::class_of(launch_, cta.block[0], cta.block[1], cta.block[2])];
    }
    sms_[number]->install(cta, next->start);
    if (residents_[number].ctas++ == 0) {
      residents_[number].since = next->start;
    }
    set_active(number, policy_ != nullptr ? policy_->active_sms(number) : 1,
               std::max(next->start, residents_[number].since));
    if (options_.observer != nullptr) {
      options_.observer->cta_begins(
          {.sm = next->group,
           .slot = slot,
           .number = next->ctas.front(),
           .block = cta.block,
           .cta_class = static_cast<std::size_t>(cta.cta_class - launch_.classes.data()),
           .cycle = next->start});
    }
  }
}

void Engine::run_sms(sim::Cycles end) {
  const auto count = static_cast<int>(sms_.size());
  team_.for_each(count, [&](int i) {
    const auto sm = static_cast<std::size_t>(options_.reverse_sms ? count - 1 - i : i);
    const bool watched =
        options_.observer != nullptr && options_.observer->watches(static_cast<int>(sm), now_);
    sms_[sm]->core().watch(watched ? &events_[sm] : nullptr);
    sms_[sm]->run_window(now_, end);
  });
  const auto parts = static_cast<std::size_t>(team_.size());
  team_.run([&](int part) { memory_.serve(asked_, static_cast<std::size_t>(part), parts); });
}

void Engine::exchange_code(sim::Cycles end) {
  std::vector<CodeReader> readers;
  readers.reserve(sms_.size());
  for (std::size_t i = 0; i < sms_.size(); ++i) {
    readers.push_back({.asked = &sms_[i]->core().asked_lines(),
                       .core = &sms_[i]->core(),
                       .origin = sms_[i]->origin(),
                       .first_sm = sms_[i]->number(),
                       .sms = policy_ != nullptr ? policy_->active_sms(i) : 1,
                       .in_step = policy_ != nullptr && policy_->in_step(),
                       .jumps = sms_[i]->is_jumping(end)});
  }
  code_path_.exchange(std::move(readers));
}

void Engine::end_ctas() {
  struct End {
    sim::Cycles time;
    std::size_t sm;
    int slot;
  };
  std::vector<End> ends;
  for (std::size_t sm = 0; sm < sms_.size(); ++sm) {
    for (const auto& [time, slot] : sms_[sm]->completions()) {
      ends.push_back({time, sm, slot});
    }
  }
  std::ranges::stable_sort(ends, {}, &End::time);
  const int shortest = sm::turnaround(config_.sm.issue).shortest_cycles;
  for (const End& end : ends) {
    if (options_.observer != nullptr) {
      options_.observer->cta_ends(static_cast<int>(end.sm), end.slot, end.time + 1);
    }
    end_ = std::max(end_, end.time + 1);
    sms_[end.sm]->core().release_slot(end.slot);
    dispatcher_.release(static_cast<int>(end.sm));
    if (policy_ != nullptr) {
      policy_->end_cta(end.sm, end.slot, end.time);
    }
    const bool last = --residents_[end.sm].ctas == 0;
    set_active(end.sm, last ? 0 : (policy_ != nullptr ? policy_->active_sms(end.sm) : 1),
               end.time + (last ? 1 : 0));
    dispatch(end.time + shortest);
  }
}

bool Engine::advance() {
  if (!std::exchange(begun_, true)) {
    dispatch(0);
  }
  const sim::Cycles end = now_ + window_;
  gpu::require_time(launch_, static_cast<double>(end));
  code_path_.begin_window(now_);
  run_sms(end);
  if (options_.observer != nullptr) {
    tell_window(end);
  }
  exchange_code(end);
  end_ctas();
  if (policy_ != nullptr) {
    policy_->end_window(now_, end);
  }
  const sim::Cycles next = next_event();
  const bool asks = std::ranges::any_of(sms_, [](const auto& sm) { return sm->awaits_answers(); });
  const bool resident = std::ranges::any_of(residents_, [](const Residents& sm) { return sm.ctas > 0; });
  if (!resident && !asks && dispatcher_.done()) {
    for (const auto& sm : sms_) {
      end_ = std::max(end_, sm->stored_by());
    }
    return false;
  }
  if (next == SmUnit::kForever && !asks) {
    report_deadlock();
  }
  now_ = end;
  const bool jumps = std::ranges::any_of(sms_, [&](const auto& sm) { return sm->is_jumping(end); });
  if (!asks && next > end && (!jumps || policy_->allows_gaps())) {
    // Nothing happens in between, but that SMs move their origins.
    const sim::Cycles origin =
        (end + SmUnit::kOriginCycles - 1) / SmUnit::kOriginCycles * SmUnit::kOriginCycles;
    now_ = std::max(end, std::min(next / window_ * window_, origin));
  }
  return true;
}

sim::Cycles Engine::next_event() const {
  sim::Cycles next = SmUnit::kForever;
  for (const auto& sm : sms_) {
    next = std::min(next, sm->next_event());
  }
  return next;
}

gpu::LaunchCounts Engine::counts() const {
  gpu::LaunchCounts counts;
  counts.cycles = end_;
  counts.occupancy = occupancy_;
  counts.sm_active_cycles = sm_active_cycles_;
  counts.sm_clock_mhz = sm_clock_mhz_;
  for (const auto& sm : sms_) {
    counts.counters.add(sm->core().counters());
    std::ranges::transform(counts.issued_by_opcode, sm->core().issued_by_opcode(),
                           counts.issued_by_opcode.begin(), std::plus<>());
  }
  counts.instructions = counts.counters.issued();
  counts.stepped = counts.instructions;
  counts.tensors = memory_.traffic();
  counts.earlier_bytes = memory_.earlier_bytes();
  return counts;
}

void Engine::tell_begin() const {
  options_.observer->launch_begins({.trace = &trace_,
                                    .launch = &launch_,
                                    .sm_clock_mhz = sm_clock_mhz_,
                                    .gap_us = gpu::launch_gap_us(config_),
                                    .sms = config_.gpu.sm_count,
                                    .sub_cores = config_.sm.sub_cores,
                                    .cta_slots = cta_slots()});
}

void Engine::tell_window(sim::Cycles end) {
  for (std::size_t sm = 0; sm < sms_.size(); ++sm) {
    if (!events_[sm].empty()) {
      // Their times count from the SM's origin.
      const auto start = static_cast<std::int32_t>(now_ - sms_[sm]->origin());
      for (metrics::SmEvent& event : events_[sm]) {
        event.begin -= start;
        event.end -= start;
      }
      options_.observer->slice(static_cast<int>(sm), now_, end, events_[sm]);
      events_[sm].clear();
    }
  }
  const metrics::MovedBytes sum = metrics::sum_of(memory_.traffic());
  options_.observer->moved(now_, end, sum - moved_);
  moved_ = sum;
}

void Engine::report_deadlock() const {
  const auto stuck = std::ranges::find_if(residents_, [](const Residents& sm) { return sm.ctas > 0; });
  const auto sm = static_cast<std::size_t>(stuck - residents_.begin());
  std::string warps;
  for (const auto& [warp, pc] : sms_[sm]->core().waiting_warps()) {
    const auto after = std::ranges::upper_bound(decoded_.program_begin, pc);
    const auto program = static_cast<std::size_t>(after - decoded_.program_begin.begin()) - 1;
    const std::uint32_t number = pc - decoded_.program_begin[program];
    const trace::WarpProgram& text = launch_.programs[program];
    warps += fmt::format(
        "{}warp {} at {}:{} ({}{})", warps.empty() ? "" : ", ", warp, text.name, number,
        number > 0 && trace::info(text.code[number - 1].opcode).op_class == trace::OpClass::barrier
            ? "behind "
            : "",
        trace::info(text.code[number > 0 ? number - 1 : 0].opcode).name);
  }
  throw gpu::DeadlockError(
      fmt::format("deadlock in launch '{}' on SM {}: no warp can make progress; waiting: {}", launch_.name,
                  sms_[sm]->number(), warps));
}

}  // namespace warpscope::engine

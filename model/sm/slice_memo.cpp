#include "model/sm/slice_memo.hpp"

#include <xxhash.h>

#include <algorithm>
#include <utility>

namespace warpscope::sm {

StateHash hash_state(const SmCore& core) {
  XXH128_hash_t hash = XXH3_128bits(core.state_bytes().data(), core.state_bytes().size());
  if (const std::span<const std::uint8_t> registers = core.register_bytes(); !registers.empty()) {
    const XXH64_hash_t high = hash.high64;
    hash = XXH3_128bits_withSeed(registers.data(), registers.size(), hash.low64);
    hash.high64 ^= high;
  }
  return {hash.low64, hash.high64};
}

void SliceMemo::add(SlicesFromState& where, std::unique_ptr<RecordedSlice> slice) {
  bytes_ += sizeof(RecordedSlice) + slice->events.size() * sizeof(SliceEvent) + slice->end_state.size();
  where.push_back(std::move(slice));
}

const SmCounters& SliceMemo::counters() {
  for (RecordedSlice* slice : uncounted_) {
    counters_.add(slice->counters, std::exchange(slice->uncounted, 0));
  }
  uncounted_.clear();
  return counters_;
}

bool SliceReplayer::follow(const RecordedSlice& recorded, const MemoryPort& port) {
  std::size_t request_number = 0;
  for (const SliceEvent& event : recorded.events) {
    LoopCounters& own = counters_[event.warp];
    if (event.kind == SliceEvent::Kind::access) {
      if (request_number == answered_.size()) {
        answered_.push_back(port(core_.request(event.index, event.access_kind, event.warp, own), event.time));
      }
      if (!(answered_[request_number++] == event.response)) {
        return false;
      }
      continue;
    }
    const DecodedLoop& loop = core_.decoded().loops[event.index];
    std::uint32_t& iteration = own.iteration[loop.depth];
    std::uint32_t& trips = own.trips[loop.depth];
    switch (event.kind) {
      case SliceEvent::Kind::enter_loop:
        trips = core_.trips_on_entry(loop, event.warp, own);
        iteration = 0;
        if (trips == 0) {
          return false;
        }
        break;
      case SliceEvent::Kind::skip_loop:
        if (core_.trips_on_entry(loop, event.warp, own) != 0) {
          return false;
        }
        break;
      case SliceEvent::Kind::repeat_loop:
        if (iteration + 1 >= trips) {
          return false;
        }
        ++iteration;
        break;
      default:
        if (iteration + 1 < trips) {
          return false;
        }
        iteration = trips = 0;
        break;
    }
  }
  return true;
}

void SliceReplayer::visit(RecordedSlice* slice) {
  visited_.push_back(slice);
  if (visited_.size() > std::size_t{2 * kMostVisited}) {
    const auto kept = visited_.end() - kMostVisited;
    forgotten_ += static_cast<std::size_t>(kept - visited_.begin());
    visited_.erase(visited_.begin(), kept);
  }
}

std::size_t SliceReplayer::cycle() const {
  const std::size_t most = std::min(kLongestCycle, visited_.empty() ? 0 : visited_.size() - 1);
  for (std::size_t length = 1; length <= most; ++length) {
    const RecordedSlice* earlier = visited_[visited_.size() - length];
    if (earlier == nullptr || !earlier->only_repeats) {
      return 0;
    }
    if (visited_[visited_.size() - 1 - length] == reached_) {
      return length;
    }
  }
  return 0;
}

std::optional<Slice> SliceReplayer::repeat_cycle(int sms) {
  const std::size_t length = reached_ == nullptr ? 0 : cycle();
  if (length == 0) {
    return std::nullopt;
  }
  const std::size_t first = slices() - length;
  std::array<LoopCounters, kMaxWarps> step{};  // iterations in one cycle
  std::int64_t cycles = 0;
  for (std::size_t i = visited_.size() - length; i < visited_.size(); ++i) {
    cycles += visited_[i]->slice.end;
    for (const SliceEvent& event : visited_[i]->events) {
      ++step[event.warp].iteration[core_.decoded().loops[event.index].depth];
    }
  }
  // All warps stay in their loops, and time within what a slice may say.
  std::int64_t times = kLongestRepeat / cycles;
  bool ends = false;
  for (std::size_t warp = 0; warp < step.size(); ++warp) {
    const LoopCounters& now = core_.loop_counters()[warp];
    for (std::size_t depth = 0; depth < now.trips.size(); ++depth) {
      if (const std::int64_t iterations = step[warp].iteration[depth]; iterations > 0) {
        times = std::min(times, (std::int64_t{now.trips[depth]} - 1 - now.iteration[depth]) / iterations);
        ends = true;
      }
    }
  }
  if (times < 1 || !ends) {
    return std::nullopt;
  }
  for (std::size_t warp = 0; warp < step.size(); ++warp) {
    for (std::size_t depth = 0; depth < step[warp].iteration.size(); ++depth) {
      core_.loop_counters()[warp].iteration[depth] +=
          static_cast<std::uint32_t>(step[warp].iteration[depth] * times);
    }
  }
  repeat(first, slices(), static_cast<std::uint64_t>(times), sms);
  Slice slice;
  slice.end = static_cast<std::int32_t>(cycles * times);
  slice.issued = issued(first, slices()) * static_cast<std::uint64_t>(times);
  return slice;
}

void SliceReplayer::copy_state() {
  if (!copied_) {
    core_.adopt(reached_->end_state.data(), reached_->slice.completions);
    copied_ = true;
  }
}

const SmCore& SliceReplayer::core_now() {
  copy_state();
  return core_;
}

bool SliceReplayer::repeat(std::size_t first, std::size_t last, std::uint64_t times, int sms) {
  const auto begin = visited_.begin() + static_cast<std::ptrdiff_t>(first - forgotten_);
  const auto end = visited_.begin() + static_cast<std::ptrdiff_t>(last - forgotten_);
  if (first < forgotten_ || std::find(begin, end, nullptr) != end) {
    return false;
  }
  std::for_each(begin, end,
                [&](RecordedSlice* slice) { memo_.count(*slice, times * static_cast<std::uint64_t>(sms)); });
  return true;
}

std::uint64_t SliceReplayer::issued(std::size_t first, std::size_t last) const {
  std::uint64_t sum = 0;
  for (std::size_t i = first; i < last; ++i) {
    sum += visited_[i - forgotten_]->slice.issued;
  }
  return sum;
}

void SliceReplayer::catch_up() {
  copy_state();
  reached_ = nullptr;
}

Slice SliceReplayer::run(std::int32_t min_cycles, std::int32_t max_cycles, const MemoryPort& port, int sms) {
  SlicesFromState* known = reached_ != nullptr ? reached_->next : nullptr;
  if (known == nullptr) {
    copy_state();
    known = &memo_.from(hash_state(core_));
    if (reached_ != nullptr) {
      reached_->next = known;
    }
  }
  answered_.clear();
  const auto resident = core_.loop_counters().begin();
  const std::ptrdiff_t warps = core_.warp_slots();
  for (const std::unique_ptr<RecordedSlice>& recorded : *known) {
    std::copy_n(resident, warps, counters_.begin());
    if (follow(*recorded, port)) {
      std::copy_n(counters_.begin(), warps, resident);
      memo_.count(*recorded, static_cast<std::uint64_t>(sms));
      reached_ = recorded.get();
      copied_ = false;
      visit(reached_);
      if (!recorded->slice.completions.empty()) {
        copy_state();
      }
      return recorded->slice;
    }
  }
  copy_state();
  return execute(*known, min_cycles, max_cycles, port, sms);
}

Slice SliceReplayer::execute(SlicesFromState& known, std::int32_t min_cycles, std::int32_t max_cycles,
                             const MemoryPort& port, int sms) {
  // Requests that were sent while following other slices have their answers already.
  std::size_t next_answer = 0;
  const MemoryPort answering = [&](const MemoryRequest& request, std::int32_t time) {
    return next_answer < answered_.size() ? answered_[next_answer++] : port(request, time);
  };
  auto recorded = std::make_unique<RecordedSlice>();
  const SmCounters before = std::exchange(core_.counters(), SmCounters{});
  recorded->slice = core_.run_slice(min_cycles, max_cycles, answering, &recorded->events);
  recorded->counters = std::exchange(core_.counters(), before);
  executed_ += recorded->slice.issued;
  Slice result = recorded->slice;
  if (memo_.has_room() && !result.deadlock) {
    const std::span<const std::uint8_t> state = core_.state_bytes();
    const std::span<const std::uint8_t> registers = core_.register_bytes();
    recorded->end_state.reserve(state.size() + registers.size());
    recorded->end_state.assign(state.begin(), state.end());
    recorded->end_state.insert(recorded->end_state.end(), registers.begin(), registers.end());
    recorded->only_repeats = recorded->slice.completions.empty() &&
                             std::ranges::all_of(recorded->events, [](const SliceEvent& event) {
                               return event.kind == SliceEvent::Kind::repeat_loop;
                             });
    reached_ = recorded.get();
    visit(reached_);
    memo_.count(*recorded, static_cast<std::uint64_t>(sms));
    memo_.add(known, std::move(recorded));
  } else {
    core_.counters().add(recorded->counters, static_cast<std::uint64_t>(sms));
    reached_ = nullptr;
    visit(nullptr);
  }
  return result;
}

}  // namespace warpscope::sm

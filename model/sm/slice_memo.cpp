#include "model/sm/slice_memo.hpp"

#include <xxhash.h>

#include <algorithm>
#include <utility>

namespace warpscope::sm {

StateHash hash_state(const SmCore& core) {
  const XXH128_hash_t hash = XXH3_128bits(&core.state(), core.compared_bytes());
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
      visited_.push_back(reached_);
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
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(&core_.state());
    recorded->end_state.assign(bytes, bytes + core_.compared_bytes());
    reached_ = recorded.get();
    visited_.push_back(reached_);
    memo_.count(*recorded, static_cast<std::uint64_t>(sms));
    memo_.add(known, std::move(recorded));
  } else {
    core_.counters().add(recorded->counters, static_cast<std::uint64_t>(sms));
    reached_ = nullptr;
    visited_.push_back(nullptr);
  }
  return result;
}

}  // namespace warpscope::sm

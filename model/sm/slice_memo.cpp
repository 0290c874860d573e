#include "model/sm/slice_memo.hpp"

#include <xxhash.h>

#include <algorithm>

namespace warpscope::sm {
namespace {

/// An access of this slice and its response; accesses outside their tensor are not sent.
struct Answer {
  memory::Response response;
  bool sent = false;
};
using Answered = std::vector<Answer>;

/// Follows a recorded slice with the loops and addresses of `core`. Returns true where all of it applies;
/// otherwise `answered` holds the responses of the requests sent on the way.
bool follow(SmCore& core, const RecordedSlice& recorded, const MemoryPort& port, Answered& answered,
            std::array<LoopCounters, kMaxWarps>& counters) {
  std::size_t request_number = 0;
  for (const SliceEvent& event : recorded.events) {
    LoopCounters& own = counters[event.warp];
    if (event.kind == SliceEvent::Kind::access) {
      if (request_number == answered.size()) {
        const MemoryRequest request = core.request(event.index, event.access_kind, event.warp, own);
        const bool sent = request.bytes > 0;
        answered.push_back({sent ? port(request, event.time) : memory::Response{}, sent});
      }
      if (!(answered[request_number++].response == event.response)) {
        return false;
      }
      continue;
    }
    const DecodedLoop& loop = core.decoded().loops[event.index];
    std::uint32_t& iteration = own.iteration[loop.depth];
    std::uint32_t& trips = own.trips[loop.depth];
    switch (event.kind) {
      case SliceEvent::Kind::enter_loop:
        trips = core.trips_on_entry(loop, event.warp, own);
        iteration = 0;
        if (trips == 0) {
          return false;
        }
        break;
      case SliceEvent::Kind::skip_loop:
        if (core.trips_on_entry(loop, event.warp, own) != 0) {
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

}  // namespace

StateHash hash_state(const SmCore& core) {
  const XXH128_hash_t hash = XXH3_128bits(&core.state(), core.compared_bytes());
  return {hash.low64, hash.high64};
}

void SliceMemo::count(const RecordedSlice& slice) {
  bytes_ += sizeof(RecordedSlice) + slice.events.size() * sizeof(SliceEvent) + slice.end_state.size();
}

Slice run_memoised(SmCore& core, SliceMemo& memo, std::int32_t min_cycles, std::int32_t max_cycles,
                   const MemoryPort& port, std::uint64_t& executed) {
  std::vector<RecordedSlice>& known = memo.from(hash_state(core));
  Answered answered;
  std::array<LoopCounters, kMaxWarps> counters;
  for (const RecordedSlice& recorded : known) {
    counters = core.loop_counters();
    if (follow(core, recorded, port, answered, counters)) {
      core.loop_counters() = counters;
      core.adopt(recorded.end_state.data(), recorded.slice.completions);
      core.counters().add(recorded.counters);
      return recorded.slice;
    }
  }

  // Not seen before: execute. Requests that were sent while following other slices have their answers
  // already.
  std::size_t next_answer = 0;
  const MemoryPort answering = [&](const MemoryRequest& request, std::int32_t time) {
    return next_answer < answered.size() ? answered[next_answer++].response : port(request, time);
  };
  std::erase_if(answered, [](const Answer& answer) { return !answer.sent; });
  RecordedSlice recorded;
  const SmCounters before = core.counters();
  core.counters() = SmCounters{};
  recorded.slice = core.run_slice(min_cycles, max_cycles, answering, &recorded.events);
  recorded.counters = core.counters();
  core.counters() = before;
  core.counters().add(recorded.counters);
  executed += recorded.slice.issued;
  Slice result = recorded.slice;
  if (memo.has_room() && !result.deadlock) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(&core.state());
    recorded.end_state.assign(bytes, bytes + core.compared_bytes());
    memo.count(recorded);
    known.push_back(std::move(recorded));
  }
  return result;
}

}  // namespace warpscope::sm

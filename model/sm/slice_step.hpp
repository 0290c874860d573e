// A slice while SmCore runs it: its bounds, where its events go, and what it has found so far.
#pragma once

#include <cstdint>
#include <stdexcept>

#include "model/sm/sm_core.hpp"

namespace warpscope::sm {

constexpr Reason reason(metrics::Stall stall) {
  return static_cast<Reason>(stall);
}
/// Index of a warp, slot or sub-core.
constexpr std::size_t at(int index) {
  return static_cast<std::size_t>(index);
}

/// `time` as a time of the SM, which has 32 bits. Throws std::invalid_argument where something would wait
/// longer than they hold.
inline std::int32_t within_reach(std::int64_t time) {
  constexpr std::int64_t kLongestWait = std::int64_t{1} << 29;
  if (time > kLongestWait) {
    throw std::invalid_argument("a warp or a port waits more than 2^29 cycles for the memory");
  }
  return static_cast<std::int32_t>(time);
}

struct SmCore::Step {
  std::int32_t min_end;
  std::int32_t end;
  const MemoryPort& port;
  std::vector<SliceEvent>* events;
  Slice& result;

  void record(SliceEvent::Kind kind, int warp, std::uint32_t loop) const {
    if (events != nullptr) {
      SliceEvent event;
      event.kind = kind;
      event.warp = static_cast<std::uint8_t>(warp);
      event.index = loop;
      events->push_back(event);
    }
  }
  /// Sends a request and remembers what it cost.
  memory::Response access(const MemoryRequest& request, int warp, std::uint32_t operand,
                          std::int32_t time) const {
    const memory::Response response = port(request, time);
    if (events != nullptr) {
      events->push_back(
          {SliceEvent::Kind::access, static_cast<std::uint8_t>(warp), operand, time, request.kind, response});
    }
    return response;
  }
  /// The slice may end behind `time`.
  void checkpoint(std::int32_t time) {
    if (time >= min_end) {
      end = time + 1 < end ? time + 1 : end;
    }
  }
};

}  // namespace warpscope::sm

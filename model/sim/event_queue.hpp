// The order of events. SystemC runs events of equal time in an order of its own; the model's results must not
// depend on it, so every decision passes through this queue with a total order.
#pragma once

#include <cstdint>
#include <queue>
#include <utility>
#include <vector>

namespace warpscope::sim {

using Cycles = std::int64_t;

/// Events ordered by (time, priority, insertion): earlier first, then the lower priority number, then first
/// come.
template <typename Payload>
class EventQueue {
 public:
  struct Event {
    Cycles time = 0;
    int priority = 0;
    std::uint64_t sequence = 0;
    Payload payload{};
  };

  void push(Cycles time, int priority, Payload payload) {
    heap_.push(Event{time, priority, next_sequence_++, std::move(payload)});
  }
  bool empty() const { return heap_.empty(); }
  const Event& top() const { return heap_.top(); }
  Event pop() {
    Event event = heap_.top();
    heap_.pop();
    return event;
  }

 private:
  struct Later {
    bool operator()(const Event& a, const Event& b) const {
      if (a.time != b.time) {
        return a.time > b.time;
      }
      return a.priority != b.priority ? a.priority > b.priority : a.sequence > b.sequence;
    }
  };
  std::priority_queue<Event, std::vector<Event>, Later> heap_;
  std::uint64_t next_sequence_ = 0;
};

}  // namespace warpscope::sim

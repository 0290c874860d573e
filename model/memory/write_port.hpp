// The way into the data of a slice of the L2.
#pragma once

#include <cstdint>
#include <deque>

#include "model/memory/server.hpp"

namespace warpscope::memory {

/// Takes what SMs write and what HBM brings, each in the order in which it comes: writes are served at once
/// or wait, bytes from HBM take their part when they are there.
class WritePort {
 public:
  /// From HBM comes what takes the port `service`; it is there at `time`, asked for at `now`. Nobody waits.
  void fill(std::int64_t now, std::int64_t time, std::int64_t service) {
    take_fills(now);
    coming_.push_back({time, service});
  }
  /// When a write begins that comes at `time`. Times asked for never go back.
  std::int64_t write(std::int64_t time, std::int64_t service) {
    take_fills(time);
    return server_.serve(time, service);
  }
  /// See Server. SMs store at the end of what they compute, all in one period.
  void add_background(std::int64_t time, std::int64_t service, std::int64_t piece) {
    server_.add_background(time, service, piece, 1);
  }

 private:
  struct Fill {
    std::int64_t time = 0;
    std::int64_t service = 0;
  };
  void take_fills(std::int64_t now) {
    while (!coming_.empty() && coming_.front().time <= now) {
      server_.serve(coming_.front().time, coming_.front().service);
      coming_.pop_front();
    }
  }

  Server server_;
  std::deque<Fill> coming_;
};

}  // namespace warpscope::memory

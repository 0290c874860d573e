// What a simulation tells whoever watches it. Nobody watching costs nothing, and watching changes no cycle.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "model/metrics/moved_bytes.hpp"
#include "model/trace/launch.hpp"

namespace warpscope::metrics {

/// What happened on an SM. Times are cycles from the start of the slice that it is told with.
struct SmEvent {
  enum class Kind : std::uint8_t {
    issue,   ///< a warp issued at `begin`; its pipe is taken up to `end`
    stall,   ///< a warp waited from `begin` to `end` for the reason `detail`, a Stall
    memory,  ///< the data path took an instruction at `begin`, for `detail` cycles, and has done with it at
             ///< `end`
    copied,  ///< an asynchronous copy of the warp's group number `detail` (modulo 2^16) is there at `end`
    barrier  ///< the last warp has arrived at barrier `detail` of its CTA, which lets all go at `end`
  };
  Kind kind = Kind::issue;
  std::uint8_t warp = 0;  ///< warp slot of the SM
  std::uint16_t detail = 0;
  std::uint32_t pc = 0;  ///< instruction, counted through the programs of the launch; the next one of a stall
  std::int32_t begin = 0;
  std::int32_t end = 0;

  bool operator==(const SmEvent&) const = default;
};

/// A launch begins. Its cycles are counted from here.
struct LaunchBegin {
  const trace::Trace* trace = nullptr;    ///< with this launch alone, or with others
  const trace::Launch* launch = nullptr;  ///< both valid until it ends
  double sm_clock_mhz = 0;
  double gap_us = 0;  ///< between the launch before it and this one
  int sms = 0;
  int sub_cores = 0;  ///< per SM; warp slots go round them
  int cta_slots = 0;  ///< per SM
};

/// A CTA enters a slot of an SM, and will leave it.
struct CtaBegin {
  int sm = 0;
  int slot = 0;
  std::uint64_t number = 0;  ///< in the grid, x fastest
  std::array<std::uint32_t, 3> block{};
  std::size_t cta_class = 0;
  std::int64_t cycle = 0;  ///< its warps may issue from here on
};

/// Whoever watches a simulation in detailed mode: all that is told has been executed.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void launch_begins(const LaunchBegin& /*launch*/) {}
  virtual void launch_ends(std::int64_t /*cycles*/) {}
  virtual void cta_begins(const CtaBegin& /*cta*/) {}
  /// Its last warp issued EXIT in the cycle before.
  virtual void cta_ends(int /*sm*/, int /*slot*/, std::int64_t /*cycle*/) {}
  /// Whether it wants to know what happens on this SM from here on.
  virtual bool watches(int /*sm*/, std::int64_t /*cycle*/) { return false; }
  /// What happened on a watched SM in the slice from `start` to `end`, for each warp in the order of time but
  /// for copies, which are told when they are known.
  virtual void slice(int /*sm*/, std::int64_t /*start*/, std::int64_t /*end*/,
                     std::span<const SmEvent> /*events*/) {}
  /// What the slice of one SM moved.
  virtual void moved(std::int64_t /*start*/, std::int64_t /*end*/, const MovedBytes& /*bytes*/) {}
};

}  // namespace warpscope::metrics

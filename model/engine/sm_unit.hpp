// One SM between two exchanges with the memory system.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "model/memory/memory.hpp"
#include "model/sim/event_queue.hpp"
#include "model/sm/sm_core.hpp"

namespace warpscope::engine {

/// Stands between an SM and the memory system, where an SM is simulated in place of others.
class RequestTap {
 public:
  virtual ~RequestTap() = default;
  /// Completes an access that the SM makes.
  virtual void repeat(const sm::MemoryRequest& request, memory::Access& own) = 0;
};

/// An SM, its port to the memory system, and its requests that are not answered yet. Knows nothing of other
/// SMs, so that windows of several can run at the same time.
class SmUnit {
 public:
  /// All arguments must outlive it.
  SmUnit(const hw::HwConfig& config, const trace::Trace& trace, const sm::DecodedLaunch& decoded,
         int cta_slots, int sm, const memory::Memory& memory, RequestTap* tap);

  /// Puts a CTA into a free slot; its warps may issue from `start` on, not before the end of the last window.
  void install(const sm::ResidentCta& cta, sim::Cycles start);
  /// Takes the answers to what it asked in the last window, then runs to `end`.
  void run_window(sim::Cycles begin, sim::Cycles end);
  /// Leaves out `cycles` from `now`, the end of the last window, on: what it is about to do happens so much
  /// later, as if nothing had been in between.
  void jump(sim::Cycles now, sim::Cycles cycles);
  bool is_jumping(sim::Cycles now) const { return wakes_ > now; }
  /// What the core has counted since the last call; null: nothing, as it has not run.
  std::optional<sm::SmCounters> take_counted();
  /// What it has asked in the last window.
  std::vector<memory::Piece>& asked() { return asked_; }
  /// CTAs that have ended in the last window: (cycle of the last EXIT, slot).
  const std::vector<std::pair<sim::Cycles, int>>& completions() const { return completions_; }
  /// When it has something to do again; kForever where it only waits for answers, or for CTAs.
  sim::Cycles next_event() const { return next_event_; }
  /// Its requests that are not answered yet.
  int in_flight() const { return in_flight_count_; }
  bool awaits_answers() const { return in_flight_count_ > 0; }
  /// The last of its stores had reached the L2 by then.
  sim::Cycles stored_by() const { return stored_by_; }
  /// Its code comes as `supply` says, which must outlive it.
  void supply_code(const sm::CodeSupply& supply) { supply_ = &supply; }
  int number() const { return sm_; }
  sm::SmCore& core() { return core_; }
  const sm::SmCore& core() const { return core_; }
  sim::Cycles origin() const { return origin_; }

  /// The core counts time in 32 bits from an origin, which moves on every so many cycles, a multiple of all
  /// windows.
  static constexpr sim::Cycles kOriginCycles = sim::Cycles{1} << 20;
  static constexpr sim::Cycles kForever = std::int64_t{1} << 62;

 private:
  struct InFlight {
    sm::SentRequest sent;
    int pieces = 0;  ///< not yet answered
    sim::Cycles arrival = 0;
  };
  void take_answers();
  void step(sim::Cycles begin, sim::Cycles end);
  void ask(const sm::SentRequest& sent);

  int sm_;
  const memory::Memory& memory_;
  const sm::DecodedLaunch& decoded_;
  sim::Cycles store_reply_;
  std::int64_t port_units_per_byte_;
  std::vector<sm::SentRequest> sent_;
  sm::SmCore core_;
  const sm::CodeSupply* supply_ = nullptr;
  sim::Cycles origin_ = 0;
  sim::Cycles next_event_ = kForever;
  std::int64_t port_free_ = 0;  ///< reads are drawn one after another up to here, in 1/kQueueUnits cycles
  std::uint32_t next_number_ = 0;
  std::vector<InFlight> in_flight_;
  std::vector<std::uint32_t> free_;  ///< places in it
  int in_flight_count_ = 0;
  std::vector<memory::Piece> leaving_;  ///< of this window's requests
  std::deque<memory::Piece> later_;     ///< that leave the SM after the window, in the order of time
  std::vector<memory::Piece> asked_;
  std::vector<sm::Completion> ended_;
  std::vector<std::pair<sim::Cycles, int>> completions_;
  sim::Cycles stored_by_ = 0;
  sim::Cycles wakes_ = 0;  ///< end of the last jump
  bool ran_ = false;       ///< since the last take_counted()
  RequestTap* tap_;        ///< may be null
};

}  // namespace warpscope::engine

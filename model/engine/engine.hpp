// Time of the whole chip: windows in which SMs run alone, and the exchange with the memory system between
// them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "model/engine/code_path.hpp"
#include "model/engine/sm_unit.hpp"
#include "model/engine/thread_team.hpp"
#include "model/gpu/cta_dispatcher.hpp"
#include "model/gpu/launch_counts.hpp"
#include "model/memory/memory.hpp"
#include "model/metrics/observer.hpp"

namespace warpscope::engine {

/// How a launch is run; only `code_in_l2` changes a cycle of it.
struct EngineOptions {
  bool code_in_l2 = false;                ///< else the memory alone has what is not loaded with the launch
  int window_divisor = 1;                 ///< windows so many times shorter than they may be
  bool reverse_sms = false;               ///< the order in which one thread takes the SMs
  metrics::Observer* observer = nullptr;  ///< is told what happens; null: nobody
};

/// Who decides what is left out, and is told what happens. Called between windows.
class Policy {
 public:
  virtual ~Policy() = default;
  /// The SMs that are simulated, and how many each of them stands for.
  virtual const std::vector<gpu::SmGroup>& groups() const = 0;
  /// Called once for each simulated SM.
  virtual RequestTap* tap(std::size_t sm, const sm::DecodedLaunch& decoded, int cta_slots) = 0;
  /// CTAs begin, one of which is simulated in this slot; which, is returned.
  virtual sm::ResidentCta begin_ctas(const gpu::Dispatch& dispatch, int slot) = 0;
  /// SMs that have work of those that `sm` stands for.
  virtual int active_sms(std::size_t sm) const = 0;
  /// These do the same at the same time.
  virtual bool in_step() const = 0;
  virtual void end_cta(std::size_t sm, int slot, sim::Cycles time) = 0;
  virtual void end_window(sim::Cycles begin, sim::Cycles end) = 0;
  /// Whether windows in which no SM does anything may be left out.
  virtual bool allows_gaps() const = 0;
};

/// One launch on the SMs of a GPU.
class Engine {
 public:
  /// All arguments must outlive it; without a policy everything is executed.
  Engine(const hw::HwConfig& config, const trace::Trace& trace, const trace::Launch& launch,
         memory::Memory& memory, ThreadTeam& team, const EngineOptions& options, Policy* policy = nullptr);

  /// Runs the next window. False once the launch has ended. Throws DeadlockError where no warp can make
  /// progress.
  bool advance();
  /// Where the next window begins.
  sim::Cycles now() const { return now_; }
  /// Length of all windows.
  sim::Cycles window_cycles() const { return window_; }
  /// What the launch has left in the counters so far; cycles only once it has ended.
  gpu::LaunchCounts counts() const;
  std::vector<std::unique_ptr<SmUnit>>& sms() { return sms_; }
  gpu::CtaDispatcher& dispatcher() { return dispatcher_; }
  const memory::Memory& memory() const { return memory_; }
  int cta_slots() const { return std::min(occupancy_.ctas_per_sm, sm::kMaxCtas); }
  const sm::DecodedLaunch& decoded() const { return decoded_; }
  double sm_clock_mhz() const { return sm_clock_mhz_; }

 private:
  struct Residents {
    int ctas = 0;
    int active = 0;         ///< SMs with work, of those that this one stands for
    sim::Cycles since = 0;  ///< of the last change of `active`
  };
  /// From `time` on the SMs of a group that have work are others. Starts lie ahead, so an end may come before
  /// one.
  void set_active(std::size_t sm, int active, sim::Cycles time);
  void run_sms(sim::Cycles end);
  void exchange_code(sim::Cycles end);
  void end_ctas();
  void dispatch(sim::Cycles slot_ready);
  void tell_begin() const;
  void tell_window(sim::Cycles end);
  [[noreturn]] void report_deadlock() const;
  sim::Cycles next_event() const;

  const hw::HwConfig& config_;
  const trace::Trace& trace_;
  const trace::Launch& launch_;
  memory::Memory& memory_;
  ThreadTeam& team_;
  EngineOptions options_;
  Policy* policy_;
  double sm_clock_mhz_;
  metrics::Occupancy occupancy_;
  sm::DecodedLaunch decoded_;
  gpu::CtaDispatcher dispatcher_;
  sim::Cycles window_;
  CodePath code_path_;
  bool begun_ = false;  ///< the first CTAs have been handed out, which waits until a policy is attached
  sim::Cycles now_ = 0;
  sim::Cycles end_ = 0;
  std::uint64_t sm_active_cycles_ = 0;
  std::vector<std::unique_ptr<SmUnit>> sms_;
  std::vector<std::vector<memory::Piece>*> asked_;  ///< of all SMs
  std::vector<Residents> residents_;
  std::vector<std::vector<metrics::SmEvent>> events_;  ///< of watched SMs, in this window
  metrics::MovedBytes moved_;
};

}  // namespace warpscope::engine

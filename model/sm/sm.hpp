// A streaming multiprocessor as a SystemC module: SmCore behind a TLM socket.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>
#include <memory>
#include <optional>
#include <systemc>
#include <tlm>

#include "model/memory/transaction.hpp"
#include "model/sim/event_queue.hpp"
#include "model/sm/access_batch.hpp"
#include "model/sm/loop_skipper.hpp"
#include "model/sm/member_accesses.hpp"
#include "model/sm/path_skipper.hpp"
#include "model/sm/slice_memo.hpp"
#include "model/sm/sm_core.hpp"
#include "model/sm/sm_group.hpp"

namespace warpscope::sm {

/// Bytes of one tensor that the simulated CTAs asked for, for those too that they stand for, and what of it
/// moved: the part inside the tensor, reads in whole sectors.
struct Demand {
  std::uint64_t read_asked = 0;
  std::uint64_t read_moved = 0;
  std::uint64_t write_asked = 0;
  std::uint64_t write_moved = 0;

  void add(const Demand& other) {
    read_asked += other.read_asked;
    read_moved += other.read_moved;
    write_asked += other.write_asked;
    write_moved += other.write_moved;
  }
};

/// Runs slices of its core ahead of the simulation's clock and sends their memory requests through
/// `memory_side`, stamped with the time at which they were made (temporal decoupling). It may stand for a
/// group of SMs: then it sends the requests of the others, too, and takes the answer to its own.
class Sm : public sc_core::sc_module {
 public:
  tlm_utils::simple_initiator_socket<Sm> memory_side;

  explicit Sm(const sc_core::sc_module_name& name);
  ~Sm() override;

  /// What it stands for in the launches that begin from here on.
  void stand_for(const SmGroup& group) { group_ = group; }
  /// Who is told what happens on it; null: nobody. Needs launches without a memo.
  void watch(metrics::Observer* observer) { observer_ = observer; }
  /// Prepares for a launch. `memo` may be null: then every slice is executed. Arguments must outlive it.
  void begin_launch(const hw::HwConfig& config, const trace::Trace& trace, const trace::Launch& launch,
                    const DecodedLaunch& decoded, int cta_slots, SliceMemo* memo);
  /// Puts CTAs into one slot, one for each of the first SMs of the group.
  void install(int slot, SlotMembers members, sim::Cycles start, sim::Cycles now);
  /// Runs the slice that starts at `now`.
  Slice run_slice(sim::Cycles now);

  const SmCore& core() const { return *core_; }
  /// What the slices that are not in the memo counted, for all SMs of the group.
  SmCounters counters() const;
  int first_sm() const { return group_.first_sm; }
  /// CTAs that the one in `slot` stands for, itself included.
  int members(int slot) const { return static_cast<int>(accesses_->members(slot).ctas.size()); }
  /// SMs of the group that have work.
  int active_sms() const;
  const std::vector<Demand>& demand() const { return demand_; }
  /// Whether a window of its CTAs' paths has ended with the last slice.
  bool window_ended() const { return window_ended_; }
  /// Cycles that it could leave out now (PathSkipper).
  sim::Cycles room() const { return paths_ ? paths_->room() : 0; }
  /// Orders it to leave out about so many, at the pace of the last `windows`, as soon as all its CTAs are in
  /// loops.
  void leave_out(sim::Cycles cycles, std::size_t windows) {
    to_leave_out_ = cycles;
    pace_windows_ = windows;
  }
  /// Whether the first warp of every resident CTA is in a loop.
  bool in_loops() const;
  /// Instructions that were stepped.
  std::uint64_t executed() const { return replayer_ ? replayer_->executed() : executed_; }

 private:
  /// Sends a request of the simulated SM; those that the others of the group make at the same time follow
  /// when the slice ends.
  memory::Response send(const MemoryRequest& request, std::int32_t time);
  /// The access as each of the others makes it, as far as it lies inside the tensor.
  void add_companions(const JoinedAccess& access, std::uint32_t again_bytes);
  /// Sends what has been gathered, with or without the accesses of the simulated SM.
  void send_gathered(std::int32_t time, bool with_own);
  void count_demand(const MemoryRequest& own, std::uint32_t asked_bytes, std::uint32_t again_bytes,
                    std::uint64_t times);
  /// Sends the transaction as it is.
  memory::Response transport(memory::AccessKind kind, std::uint16_t tensor, std::int32_t time, bool timed);
  Slice run_next_slice(sim::Cycles now);
  Slice run_watched_slice(sim::Cycles now);
  /// Leaves out iterations of loops where they repeat; true if there were any.
  std::optional<Slice> skip_loops();
  /// Leaves out what was ordered, if it can be done here.
  std::optional<Slice> skip_paths(sim::Cycles now);
  /// The accesses of the CTA in `slot` during iterations left out, spread over `cycles`.
  void touch(int slot, const LoopSkip& skip);

  SmGroup group_;
  metrics::Observer* observer_ = nullptr;
  std::vector<metrics::SmEvent> events_;  ///< of a watched slice
  const trace::Trace* trace_ = nullptr;
  const DecodedLaunch* decoded_ = nullptr;
  std::unique_ptr<SmCore> core_;
  std::unique_ptr<MemberAccesses> accesses_;
  std::optional<SliceReplayer> replayer_;
  std::optional<LoopSkipper> skipper_;
  std::optional<PathSkipper> paths_;
  bool window_ended_ = false;
  sim::Cycles to_leave_out_ = 0;  ///< 0: nothing
  std::size_t pace_windows_ = 0;
  AccessBatch gathered_;  ///< not yet sent
  sim::Cycles slice_start_ = 0;
  std::uint64_t executed_ = 0;
  std::vector<Demand> demand_;  ///< by tensor
  SmCounters counters_;         ///< of slices run without the memo
  MemoryPort port_;
  tlm::tlm_generic_payload payload_;
  memory::Transaction transaction_;
};

}  // namespace warpscope::sm

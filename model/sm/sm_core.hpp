// One SM in plain C++: four sub-cores that issue warp instructions, the memory path they share, barriers and
// CTA slots.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "model/hw/hw_config.hpp"
#include "model/metrics/observer.hpp"
#include "model/metrics/result.hpp"
#include "model/sm/address.hpp"
#include "model/sm/async_units.hpp"
#include "model/sm/code_supply.hpp"
#include "model/sm/copy_arrivals.hpp"
#include "model/sm/decoded_launch.hpp"
#include "model/sm/instruction_lines.hpp"
#include "model/sm/issue_history.hpp"
#include "model/sm/loop_counters.hpp"
#include "model/sm/sent_request.hpp"
#include "model/sm/sm_state.hpp"
#include "model/sm/store_buffer.hpp"
#include "model/sm/turn.hpp"
#include "model/trace/launch.hpp"

namespace warpscope::sm {

/// Warp instructions by trace::Opcode.
using OpcodeCounts = std::array<std::uint64_t, 128>;

/// What an SM counts besides.
struct SmCounters {
  std::array<std::uint64_t, metrics::kStallReasons> stall_warp_cycles{};
  std::uint64_t shared_load_wavefronts = 0;
  std::uint64_t shared_store_wavefronts = 0;
  // Cycles in which the SM holds a CTA and these are taken. What reaches beyond the last CTA is taken off
  // when it ends, so that a part of a launch may count less than nothing.
  std::array<std::int64_t, kCountedPipes> pipe_busy_cycles{};  ///< by PipeSlot, sum over sub-cores
  std::int64_t data_path_cycles = 0;                           ///< of shared memory

  /// Warp instructions.
  std::uint64_t issued() const {
    return stall_warp_cycles[static_cast<std::size_t>(metrics::Stall::selected)];
  }
  void add(const SmCounters& other, std::uint64_t times = 1);
  void subtract(const SmCounters& other);
  /// Adds what `other` has `times` times, less what it has `before` times, which has been added already. Both
  /// are rounded.
  void add_times(const SmCounters& other, double times, double before = 0);
};

/// Sets the part of `asked` that lies inside its tensor.
void clip(MemoryRequest& request, const trace::Tensor& tensor, std::uint32_t bytes);

/// How often the first warp of a CTA has begun a loop anew, and when it last did.
struct LoopHead {
  std::uint32_t count = 0;
  std::int32_t time = 0;
};

/// A CTA ends: when, and in which slot.
using Completion = std::pair<std::int32_t, std::uint8_t>;

/// Knows nothing of what is outside of it: requests leave, and whoever holds the SM says when they are
/// answered. Times count from an origin that is moved now and then.
class SmCore {
 public:
  /// What leaves the data path for the memory system is appended to `sent`. `trace`, `decoded` and `sent`
  /// must outlive the core.
  SmCore(const hw::HwConfig& config, const trace::Trace& trace, const DecodedLaunch& decoded, int cta_slots,
         std::vector<SentRequest>& sent);

  /// Puts a CTA into a free slot; its warps may issue from `start` on.
  void install(int slot, const ResidentCta& cta, std::int32_t start);
  /// Runs from where it is up to `end`; CTAs that end are appended to `completions`, and keep their slots.
  /// Returns when it goes on: kNever where it waits for answers, or for nothing any more.
  std::int32_t run_until(std::int32_t end, std::vector<Completion>& completions);
  /// The CTA in this slot has ended; another one may have it.
  void release_slot(int slot);
  /// The memory answers a request at `time`, not before the end of the last run_until().
  void answer(const SentRequest& sent, std::int32_t time);
  /// Makes `origin`, up to which it has run, the new zero of time.
  void move_origin(std::int32_t origin);

  /// Appends what happens from here on to `events`; null: to nothing.
  void watch(std::vector<metrics::SmEvent>* events) { watched_ = events; }

  bool idle() const { return resident_warps_ == 0; }
  int free_slots() const { return free_slots_; }
  int first_free_slot() const;
  int cta_slots() const { return cta_slots_; }
  /// Warps of all CTA slots together.
  int warp_slots() const { return cta_slots_ * static_cast<int>(decoded_.warps_per_cta); }
  const ResidentCta& cta(int slot) const { return ctas_[static_cast<std::size_t>(slot)]; }
  const InstructionLines& near_lines() const { return near_lines_; }
  const SmState& state() const { return state_; }
  SmCounters& counters() { return counters_; }
  const OpcodeCounts& issued_by_opcode() const { return issued_by_opcode_; }

  /// What memory operand `operand` refers to for `warp` with these loop counters.
  MemoryRequest request(std::uint32_t operand, memory::AccessKind kind, int warp,
                        const LoopCounters& counters) const;
  std::array<LoopCounters, kMaxWarps>& loop_counters() { return loop_counters_; }
  const LoopCounters& loop_counters_of(int warp) const {
    return loop_counters_[static_cast<std::size_t>(warp)];
  }
  const LoopHead& loop_head(int slot) const { return loop_heads_[static_cast<std::size_t>(slot)]; }
  /// Which warps wait where, for the report of a deadlock.
  std::vector<std::pair<int, std::uint32_t>> waiting_warps() const;
  /// Code comes as `supply` says, whose times are `origin` ahead; null: from the L2 and to nobody else. What
  /// is asked for is kept until somebody clears it.
  void set_code_supply(const CodeSupply* supply, std::int64_t origin) {
    supply_ = supply;
    supply_origin_ = origin;
  }
  std::vector<LineRequest>& asked_lines() { return asked_lines_; }
  /// The other SM of the TPC has brought a line within reach, at `arrival`.
  void share_line(std::uint32_t line, std::int64_t arrival);
  void set_sm_index(int sm_index) { sm_index_ = sm_index; }

 private:
  /// The sub-core that issues next.
  std::size_t first_to_issue() const;
  /// Whether a sub-core may issue its next instruction though others are not there yet: it does not reach
  /// them, and nothing that they do before then can reach it.
  bool goes_ahead(const SubCoreState& sub_core, std::size_t index, std::int32_t end) const;
  void select_next(SubCoreState& sub_core);
  /// Of the warps of one CTA the one that issues goes behind the others.
  void put_behind_its_cta(SubCoreState& sub_core, std::uint8_t local) const;
  /// Everything that happens before `end`. There is a copy of the issue loop for SMs that somebody
  /// watches, so that the other one need not ask.
  template <bool kWatched>
  void run_events(std::int32_t end);
  /// Issues the next instruction of a sub-core, one of `warp`.
  template <bool kWatched>
  void issue(SubCoreState& sub_core, WarpState& warp, IssueHistory& history);
  /// Tell what account_stalls() charges, and an issue.
  void watch_stalls(const SubCoreState& sub_core, int local, const WarpState& warp,
                    const IssueHistory& history);
  void watch_issue(const WarpState& warp, const DecodedInstruction& instruction, std::int32_t time);
  /// Tells that a copy of this group has arrived.
  void watch_copy(std::uint32_t warp, std::uint32_t pc, std::uint32_t group, std::int32_t time);
  /// Why a ready warp with an instruction for `pipe` does not issue where no other warp does and the dispatch
  /// port is free.
  static Reason throttle(const SubCoreState& sub_core, std::uint8_t pipe, std::int32_t since);
  /// The ends of what a warp waited for, one behind the other.
  struct WaitEnds {
    std::int32_t ready;  ///< of its stall count, branch or barrier
    std::int32_t own;    ///< of what else it waited for alone
    std::int32_t until;  ///< of its turn, or of the time up to which cycles are charged
  };
  /// Charges the cycles of warp `local` of the sub-core that have not been charged yet.
  void account_stalls(const SubCoreState& sub_core, int local, const WarpState& warp, const WaitEnds& ends,
                      const IssueHistory& history);
  /// Those of them in which others issued, the dispatch port was held, or its pipe was taken.
  void account_ready(const SubCoreState& sub_core, int local, const WaitEnds& ends,
                     const IssueHistory& history);
  void finish_accounting(std::int32_t end);
  std::int32_t read_operands(SubCoreState& sub_core, const DecodedInstruction& instruction,
                             std::uint8_t local, std::int32_t time);
  /// A tensor instruction whose operands take `reads`; the next one may leave `cycles` later.
  std::int32_t read_product(SubCoreState& sub_core, const PortCycles& reads, int cycles, std::int32_t time);
  /// What issued in cycle `time` stands for so many cycles: meanwhile stall counts of other warps do not run,
  /// and the tensor pipe does not go on.
  void hold_others(SubCoreState& sub_core, std::int32_t time, std::int32_t cycles);
  /// When an XU instruction begins that reads its register in cycle `read`, behind those that end in `free`.
  std::int32_t xu_begin(std::int32_t free, std::int32_t read) const {
    return std::max(read - spec_.operands.late_cycles + spec_.xu.entry_cycles, free);
  }
  std::int32_t take_pipe(SubCoreState& sub_core, const DecodedInstruction& instruction, std::int32_t time);
  /// Counts `sign` times the cycles behind `time` that pipes and data path are taken by what has issued.
  void count_busy_behind(std::int32_t time, int sign);
  /// Until when a warp alone keeps its next instruction from issuing, and why.
  struct Wait {
    std::int32_t until;
    Reason why;
  };
  /// As far as scoreboards, registers, copies and the MIO queue decide.
  Wait wait_for_results(const WarpState& warp, const DecodedInstruction& next);
  /// Looks at `next`, the instruction behind the one that issues in cycle `time`, before that sets
  /// scoreboards.
  static void look_ahead(SubCoreState& sub_core, std::uint8_t local, const WarpState& warp,
                         const DecodedInstruction& next, std::int32_t time);
  void update_own(SubCoreState& sub_core, std::uint8_t local, WarpState& warp,
                  const DecodedInstruction& next);
  void update_own(int warp);
  std::int32_t& own_of(int warp) {
    const WarpPlace& place = places_[static_cast<std::size_t>(warp)];
    return state_.sub_cores[place.sub_core].own[place.local];
  }
  /// The rest of an issue, for all but plain instructions.
  void finish_issue(SubCoreState& sub_core, WarpState& warp, const DecodedInstruction& instruction,
                    std::int32_t time);
  bool close_loop(int warp);
  int index_of(const WarpState& warp) const { return static_cast<int>(&warp - state_.warps.data()); }
  void resolve_branch(WarpState& warp, std::int32_t resolved);
  void go_on(WarpState& warp, const DecodedInstruction& instruction, std::int32_t time);
  void enter_loops(int warp, int from_depth);
  /// `operand`: trace::Instruction::immediate.
  void arrive_at_barrier(int warp, int operand, std::int32_t time);
  void exit_warp(int warp, std::int32_t time);
  /// An instruction of an asynchronous unit issues.
  void issue_async(SubCoreState& sub_core, int warp, const DecodedInstruction& instruction,
                   std::int32_t time);
  void send_box(int warp, const DecodedInstruction& instruction, std::int32_t time);
  void answer_box(const SentRequest& sent, const DecodedInstruction& instruction, std::int32_t time);
  /// A phase of an mbarrier is complete: who waits for it may know when he goes on.
  void wake_cta(int cta_slot);
  /// A tensor instruction comes first: the memory instructions of the sub-core wait so many cycles longer.
  void put_off_memory(SubCoreState& sub_core, std::int32_t cycles);
  /// A memory instruction that leaves its queue in cycle `time` reads its registers. Returns by how much that
  /// puts it off.
  std::int32_t read_registers(SubCoreState& sub_core, const DecodedInstruction& instruction,
                              std::int32_t time) const;
  void enqueue_memory(SubCoreState& sub_core, WarpState& warp, const DecodedInstruction& instruction,
                      std::int32_t time);
  /// The first instruction of the sub-core's MIO queue, or when it may go, has changed.
  void update_service(const SubCoreState& sub_core);
  /// Whether the first instruction of the queue may go at `time`; otherwise puts it off until the store
  /// buffer has room.
  bool may_leave(SubCoreState& sub_core, const DecodedInstruction& instruction, std::int32_t time);
  /// An access of no bytes that exist leaves; nobody answers it.
  void pass_by(const MioEntry& entry, std::int32_t time);
  /// The request of an instruction leaves the SM.
  void send(const MioEntry& entry, WarpState& warp, const DecodedInstruction& instruction, std::int32_t time);
  /// A group of copies ends.
  void commit_group(WarpState& warp, std::int32_t time);
  /// What copies have brought until `time` takes the data path first.
  void fill_shared_memory(std::int32_t time);
  /// Serves the first instruction of the sub-core's MIO queue.
  template <bool kWatched>
  void serve_memory(SubCoreState& sub_core, std::int32_t time);
  std::int32_t register_ready(int warp, const DecodedInstruction& instruction, Reason& reason) const;
  void set_register_ready(int warp, const DecodedInstruction& instruction, std::int32_t time, bool is_long);
  /// The warp goes on in another instruction line.
  void fetch(WarpState& warp, std::int32_t time);
  /// When a line arrives that is asked for at `asked`: now, at `time`, or later.
  std::int32_t request_line(std::uint32_t line, std::int32_t time, std::int32_t asked);
  /// When a line of constants is there that is wanted at `time`.
  std::int32_t constant_ready(ConstantLines& lines, std::uint16_t line, std::int32_t time);
  void rebase(std::int32_t origin);

  /// Warps go round the sub-cores.
  struct WarpPlace {
    std::uint8_t sub_core = 0;
    std::uint8_t local = 0;
  };

  hw::Sm spec_;
  const trace::Trace& trace_;
  const DecodedLaunch& decoded_;
  const DecodedInstruction* code_;  ///< of decoded_
  int cta_slots_;
  bool takes_turns_;  ///< several warps of a CTA share a sub-core
  int sm_index_ = 0;
  int free_slots_;
  int resident_warps_ = 0;
  std::array<WarpPlace, kMaxWarps> places_{};
  InstructionLines near_lines_;  ///< within reach of the sub-cores
  InstructionLines far_lines_;   ///< of the next level
  SmState state_;
  std::array<IssueHistory, kMaxSubCores> histories_{};
  Turns service_turns_{};               ///< at the data path, of the MIO queues
  std::size_t next_served_ = 0;         ///< sub-core whose queue comes first
  std::int32_t service_time_ = kNever;  ///< when it does
  std::array<LoopCounters, kMaxWarps> loop_counters_{};
  std::array<ResidentCta, kMaxCtas> ctas_{};
  std::array<LoopHead, kMaxCtas> loop_heads_{};
  std::array<std::uint32_t, kMaxCtas> tenants_{};  ///< CTAs that each slot has had
  std::vector<Address> bases_;                     ///< [slot][memory operand], of the resident CTAs
  const CodeSupply* supply_ = nullptr;
  std::int64_t supply_origin_ = 0;
  std::vector<LineRequest> asked_lines_;
  SmCounters counters_;
  OpcodeCounts issued_by_opcode_{};
  std::vector<RegisterState> registers_;  ///< [warp][register], only without control bits
  std::vector<metrics::SmEvent>* watched_ = nullptr;
  std::vector<SentRequest>& sent_;
  std::vector<Completion>* completions_ = nullptr;  ///< of the run in progress
  std::array<PreparedRequests, kMaxSubCores> prepared_;
  AsyncUnits async_;  ///< empty where the launch has no use for them
  CopyArrivals arrivals_;
  StoreBuffer stores_;      ///< in bytes
  StoreBuffer reductions_;  ///< in entries
};

}  // namespace warpscope::sm

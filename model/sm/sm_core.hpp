// One SM in plain C++: four sub-cores that issue warp instructions, the memory path they share, barriers and
// CTA slots.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "model/hw/hw_config.hpp"
#include "model/metrics/observer.hpp"
#include "model/metrics/result.hpp"
#include "model/sm/address.hpp"
#include "model/sm/decoded_launch.hpp"
#include "model/sm/issue_history.hpp"
#include "model/sm/sm_state.hpp"
#include "model/sm/turn.hpp"
#include "model/trace/launch.hpp"

namespace warpscope::sm {

/// What an SM counts. Sums of slices; all plain additions.
struct SmCounters {
  std::array<std::uint64_t, 96> issued_by_opcode{};
  std::array<std::uint64_t, metrics::kStallReasons> stall_warp_cycles{};
  std::uint64_t shared_load_wavefronts = 0;
  std::uint64_t shared_store_wavefronts = 0;
  // Cycles in which the SM holds a CTA and these are taken. What reaches beyond the last CTA is taken off
  // when it ends, so that a part of a launch may count less than nothing.
  std::array<std::int64_t, kCountedPipes> pipe_busy_cycles{};  ///< by PipeSlot, sum over sub-cores
  std::int64_t data_path_cycles = 0;                           ///< of shared memory

  void add(const SmCounters& other, std::uint64_t times = 1);
};

/// A request to the memory system at the moment its instruction issues.
struct MemoryRequest {
  memory::AccessKind kind = memory::AccessKind::read;
  std::uint8_t cta_slot = 0;
  std::uint16_t tensor = 0;
  std::uint32_t operand = 0;  ///< into DecodedLaunch::memory_operands
  Address asked;              ///< may lie outside the tensor; the rest is the part inside
  std::int64_t segment = 0;
  std::int64_t offset = 0;
  std::uint32_t bytes = 0;  ///< 0: all of it lies outside
};

/// Sets the part of `asked` that lies inside its tensor.
void clip(MemoryRequest& request, const trace::Tensor& tensor, std::uint32_t bytes);

/// What happened in a slice that depends on more than SmState, in order.
struct SliceEvent {
  enum class Kind : std::uint8_t { enter_loop, skip_loop, repeat_loop, leave_loop, access };
  Kind kind = Kind::access;
  std::uint8_t warp = 0;
  std::uint32_t index = 0;  ///< loop, or memory operand
  std::int32_t time = 0;
  memory::AccessKind access_kind = memory::AccessKind::read;
  memory::Response response;
};

/// A slice: the stretch of simulated time in which an SM runs alone.
struct Slice {
  std::int32_t end = 0;                                            ///< relative to its start
  std::vector<std::pair<std::int32_t, std::uint8_t>> completions;  ///< (time, CTA slot)
  std::uint64_t issued = 0;
  bool deadlock = false;  ///< nothing can happen any more although CTAs are resident
  bool left_out = false;  ///< nobody executed it, and what it would have counted is not counted
};

/// Where the SM sends memory requests; returns what they cost.
using MemoryPort = std::function<memory::Response(const MemoryRequest&, std::int32_t time)>;

/// Sets of the instruction cache that hold a launch of `code_lines` lines as all of them would: code that
/// needs fewer is evicted from none.
std::uint32_t instruction_sets(const hw::InstructionCache& icache, std::uint32_t code_lines);

class SmCore {
 public:
  /// `launch` and `decoded` must outlive the core.
  SmCore(const hw::HwConfig& config, const trace::Trace& trace, const trace::Launch& launch,
         const DecodedLaunch& decoded, int cta_slots);

  /// Puts a CTA into a free slot; its warps may issue from `start` on (relative to the coming slice).
  void install(int slot, const ResidentCta& cta, std::int32_t start);
  /// Runs until a checkpoint (a loop of a first warp repeats, or a CTA ends) not before `min_cycles`, at most
  /// `max_cycles`, and no longer than a CTA turnaround behind the first CTA that ends. Afterwards times are
  /// relative to the end of the slice. With `events`, everything that SmState does not determine is appended
  /// to it.
  Slice run_slice(std::int32_t min_cycles, std::int32_t max_cycles, const MemoryPort& port,
                  std::vector<SliceEvent>* events);

  /// Appends what happens from here on to `events`; null: to nothing. Slices that are repeated without being
  /// executed append nothing.
  void watch(std::vector<metrics::SmEvent>* events) { watched_ = events; }

  /// Where the coming slice starts on the arrival grid.
  void set_phase(std::int64_t now_cycles) {
    state_.phase = static_cast<std::int32_t>(now_cycles % kArrivalGrid);
  }
  bool idle() const { return resident_warps_ == 0; }
  int free_slots() const { return free_slots_; }
  int first_free_slot() const;
  int cta_slots() const { return cta_slots_; }
  /// Warps of all CTA slots together.
  int warp_slots() const { return cta_slots_ * static_cast<int>(decoded_.warps_per_cta); }
  const ResidentCta& cta(int slot) const { return ctas_[static_cast<std::size_t>(slot)]; }
  const SmState& state() const { return state_; }
  /// The bytes of what decides the future of the SM: part of state(), and its registers.
  std::span<const std::uint8_t> state_bytes() const {
    return {reinterpret_cast<const std::uint8_t*>(&state_) + compared_begin_, compared_bytes_};
  }
  std::span<const std::uint8_t> register_bytes() const {
    return {reinterpret_cast<const std::uint8_t*>(registers_.data()),
            registers_.size() * sizeof(RegisterState)};
  }
  SmCounters& counters() { return counters_; }

  /// Trips of `loop` when `warp` enters it now.
  std::uint32_t trips_on_entry(const DecodedLoop& loop, int warp, const LoopCounters& counters) const;
  /// What memory operand `operand` refers to for `warp` with these loop counters.
  MemoryRequest request(std::uint32_t operand, memory::AccessKind kind, int warp,
                        const LoopCounters& counters) const;
  std::array<LoopCounters, kMaxWarps>& loop_counters() { return loop_counters_; }
  const LoopCounters& loop_counters_of(int warp) const {
    return loop_counters_[static_cast<std::size_t>(warp)];
  }
  /// Replaces the state by one recorded at the end of an equal slice: state_bytes(), then register_bytes().
  void adopt(const std::uint8_t* state_bytes,
             const std::vector<std::pair<std::int32_t, std::uint8_t>>& completions);
  /// Takes a warp that is in loop `from` to the same instruction of loop `to`, of the same text, with other
  /// loop counters.
  void move_warp(int warp, std::uint32_t from, std::uint32_t to, const LoopCounters& counters);
  const DecodedLaunch& decoded() const { return decoded_; }
  /// Which warps wait where, for the report of a deadlock.
  std::vector<std::pair<int, std::uint32_t>> waiting_warps() const;
  void set_sm_index(int sm_index) { sm_index_ = sm_index; }

 private:
  struct Step;  // one slice in progress

  /// The sub-core that issues next.
  std::size_t first_to_issue() const;
  void select_next(SubCoreState& sub_core);
  /// Everything that happens before the slice ends. There is a copy of the issue loop for SMs that somebody
  /// watches, so that the other one need not ask.
  template <bool kWatched>
  void run_events(Step& step);
  /// Issues the next instruction of a sub-core, one of `warp`.
  template <bool kWatched>
  void issue(SubCoreState& sub_core, WarpState& warp, IssueHistory& history, Step& step);
  /// Tell what account_stalls() charges, and an issue.
  void watch_stalls(const SubCoreState& sub_core, int local, const WarpState& warp,
                    const IssueHistory& history, std::int32_t until);
  void watch_issue(const WarpState& warp, const DecodedInstruction& instruction, std::int32_t time);
  /// Why a ready warp with an instruction for `pipe` does not issue where no other warp does and the dispatch
  /// port is free.
  static metrics::Stall throttle(const SubCoreState& sub_core, std::uint8_t pipe, std::int32_t since);
  /// Charges the cycles of warp `local` of the sub-core up to `until`.
  void account_stalls(const SubCoreState& sub_core, int local, const WarpState& warp,
                      const IssueHistory& history, std::int32_t until);
  void account_ready(const SubCoreState& sub_core, int local, const IssueHistory& history, std::int32_t from,
                     std::int32_t until);
  void finish_accounting(std::int32_t end);
  void take_pipe(SubCoreState& sub_core, const DecodedInstruction& instruction, std::int32_t time);
  /// Counts `sign` times the cycles behind `time` that pipes and data path are taken by what has issued.
  void count_busy_behind(std::int32_t time, int sign);
  /// Until when a warp alone keeps its next instruction from issuing, and why.
  struct Wait {
    std::int32_t until;
    Reason why;
  };
  /// As far as scoreboards, registers, copies and the MIO queue decide.
  Wait wait_for_results(const WarpState& warp, const DecodedInstruction& next) const;
  void update_own(SubCoreState& sub_core, std::uint8_t local, WarpState& warp,
                  const DecodedInstruction& next);
  void update_own(int warp);
  std::int32_t& own_of(int warp) {
    const WarpPlace& place = places_[static_cast<std::size_t>(warp)];
    return state_.sub_cores[place.sub_core].own[place.local];
  }
  /// The rest of an issue, for all but plain instructions.
  void finish_issue(SubCoreState& sub_core, WarpState& warp, const DecodedInstruction& instruction,
                    std::int32_t time, Step& step);
  bool close_loop(int warp, Step& step);
  int index_of(const WarpState& warp) const { return static_cast<int>(&warp - state_.warps.data()); }
  void go_on(WarpState& warp, const DecodedInstruction& instruction, std::int32_t time, Step& step);
  void enter_loops(int warp, int from_depth, Step& step);
  void arrive_at_barrier(int warp, int barrier, std::int32_t time);
  void exit_warp(int warp, std::int32_t time, Step& step);
  void release_slot(int slot);
  void enqueue_memory(SubCoreState& sub_core, WarpState& warp, const DecodedInstruction& instruction,
                      std::int32_t time, Step& step);
  /// The first instruction of the sub-core's MIO queue, or when it may go, has changed.
  void update_service(const SubCoreState& sub_core);
  /// Serves the first instruction of the sub-core's MIO queue.
  template <bool kWatched>
  void serve_memory(SubCoreState& sub_core, std::int32_t time);
  std::int32_t page_wait(CtaState& cta, const memory::Response& response, std::int32_t start) const;
  std::int32_t memory_completion(const DecodedInstruction& instruction, CtaState& cta,
                                 const memory::Response& response, std::int32_t start);
  std::int32_t register_ready(int warp, const DecodedInstruction& instruction, Reason& reason) const;
  void set_register_ready(int warp, const DecodedInstruction& instruction, std::int32_t time, bool is_long);
  /// The warp goes on in another instruction line.
  void fetch(WarpState& warp, std::int32_t time);
  std::int32_t request_line(std::uint32_t line, std::int32_t time);
  std::span<InstructionSet> used_instruction_sets() {
    return std::span(state_.instruction_sets).last(instruction_sets_);
  }
  void rebase(std::int32_t end);

  /// Warps go round the sub-cores.
  struct WarpPlace {
    std::uint8_t sub_core = 0;
    std::uint8_t local = 0;
  };

  hw::Sm spec_;
  std::int32_t page_bytes_;
  const trace::Trace& trace_;
  const DecodedLaunch& decoded_;
  const DecodedInstruction* code_;  ///< of decoded_
  int cta_slots_;
  int sm_index_ = 0;
  int free_slots_;
  int resident_warps_ = 0;
  std::size_t compared_begin_;  ///< of the part of state_ that is compared
  std::size_t compared_bytes_;
  std::array<WarpPlace, kMaxWarps> places_{};
  std::uint32_t instruction_sets_;
  std::int32_t line_fill_cycles_;
  SmState state_;
  std::array<IssueHistory, kMaxSubCores> histories_{};
  Turns service_turns_{};               ///< at the data path, of the MIO queues
  std::size_t next_served_ = 0;         ///< sub-core whose queue comes first
  std::int32_t service_time_ = kNever;  ///< when it does
  std::array<LoopCounters, kMaxWarps> loop_counters_{};
  std::array<ResidentCta, kMaxCtas> ctas_{};
  std::vector<Address> bases_;  ///< [slot][memory operand], of the resident CTAs
  SmCounters counters_;
  std::vector<RegisterState> registers_;  ///< [warp][register], only without control bits
  std::vector<metrics::SmEvent>* watched_ = nullptr;
};

}  // namespace warpscope::sm

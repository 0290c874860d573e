// What decides the future of an SM, as plain data with times relative to its origin (SmCore::move_origin).
#pragma once

#include <array>
#include <cstdint>
#include <limits>

#include "model/hw/model_room.hpp"
#include "model/sm/register_ports.hpp"
#include "model/trace/program.hpp"
#include "model/trace/trace_limits.hpp"

namespace warpscope::sm {

inline constexpr int kMaxWarps = hw::kMostWarps;
inline constexpr int kMaxCtas = hw::kMostCtas;
inline constexpr int kMaxSubCores = hw::kMostSubCores;
inline constexpr int kWarpsPerSubCore = kMaxWarps / kMaxSubCores;
inline constexpr int kMioEntries = hw::kMostMioEntries;
/// Groups of asynchronous copies that a warp has in flight; where there are more, the two oldest become one.
inline constexpr int kAsyncGroups = 8;
static_assert(trace::kMostPendingGroups < kAsyncGroups - 1);
inline constexpr int kBarriers = 16;
inline constexpr int kPipes = 6;
/// Time of what has no time yet.
inline constexpr std::int32_t kNever = std::numeric_limits<std::int32_t>::max();

template <std::size_t kCount>
constexpr std::array<std::int32_t, kCount> never() {
  std::array<std::int32_t, kCount> times{};
  times.fill(kNever);
  return times;
}

enum class WarpStatus : std::uint8_t { empty, running, at_barrier };

/// Why `WarpState::ready` or `own` lies in the future; values are metrics::Stall.
using Reason = std::uint8_t;

/// What nearly every issue looks at comes first, in one cache line of the host.
struct alignas(64) WarpState {
  std::int32_t ready = 0;       ///< end of stall count, branch or barrier
  std::int32_t attributed = 0;  ///< stall cycles are accounted for up to here
  std::uint32_t pc = 0;
  std::uint32_t fetched_line = 0;  ///< instruction-cache line the warp reads from, plus one; 0 = none
  std::int32_t fetch_ready = 0;    ///< arrival of that line
  std::array<std::int32_t, trace::kScoreboards> scoreboard{};  ///< release time
  std::array<std::uint8_t, trace::kScoreboards> queued{};  ///< instructions in the MIO queue that will set it
  std::uint8_t long_scoreboards = 0;                       ///< bit i: scoreboard i waits for global memory
  WarpStatus status = WarpStatus::empty;
  Reason ready_reason = 0;
  Reason own_reason = 0;
  std::uint8_t cta_slot = 0;
  std::uint8_t warp_in_cta = 0;
  std::uint8_t barrier = 0;         ///< while at_barrier
  std::uint8_t in_queue = 0;        ///< its instructions in the MIO queue
  std::uint8_t groups = 0;          ///< valid entries of `group`
  std::uint8_t queued_commits = 0;  ///< group ends still in the MIO queue
  std::uint32_t commits = 0;        ///< group ends so far
  std::int32_t open_group = 0;      ///< last arrival of asynchronous copies that no group has claimed yet
  std::uint32_t open_copies = 0;    ///< copies of the open group that the memory has not answered
  std::array<std::int32_t, kAsyncGroups> group{};          ///< arrival of the pending groups, oldest first
  std::array<std::uint32_t, kAsyncGroups> group_copies{};  ///< copies of each that are not answered
};

/// One of the instructions that set this scoreboard has done so at `time`.
inline void release_scoreboard(WarpState& warp, std::uint8_t board, std::int32_t time) {
  if (board != trace::kNoScoreboard) {
    --warp.queued[board];
    warp.scoreboard[board] = std::max(warp.scoreboard[board], time);
  }
}

/// A memory instruction between issue and the SM's data path.
struct MioEntry {
  std::int32_t enqueued = 0;
  std::uint32_t pc = 0;
  std::uint32_t warp = 0;
};

/// Likewise what selects the next instruction comes first.
struct alignas(64) SubCoreState {
  std::int32_t issue_free = 0;      ///< next issue slot
  std::int32_t next_time = kNever;  ///< when the next instruction issues
  std::array<std::int32_t, kPipes> pipe_free{};
  std::int32_t xu_free = 0;  ///< what has been issued to the XU ends
  RegisterPorts ports;
  std::uint8_t next_warp = 0;
  static constexpr std::uint8_t kNobody = kWarpsPerSubCore;
  std::uint8_t last_warp = kNobody;          ///< issued last, if it is still there
  std::uint8_t last_product_warp = kNobody;  ///< issued the last tensor instruction
  std::uint8_t warp_count = 0;
  std::uint8_t at_barrier = 0;  ///< so many of them wait at one
  // Warps by their number on this sub-core:
  /// Resident ones, oldest CTA first, and of one CTA the one that issued longest ago.
  std::array<std::uint8_t, kWarpsPerSubCore> by_age{};
  std::array<std::uint8_t, kWarpsPerSubCore> pipe{};  ///< PipeSlot of the next instruction
  /// Bit: its next is a tensor instruction whose scoreboard was set as the one in front of it issued.
  std::uint32_t asleep = 0;
  /// Earliest issue as far as the warp alone decides; kNever while it waits for others or is not there.
  std::array<std::int32_t, kWarpsPerSubCore> own = never<kWarpsPerSubCore>();
  /// When each warp issued last.
  std::array<std::int32_t, kWarpsPerSubCore> issued_at{};
  std::int32_t mio_free = 0;     ///< next instruction may leave the MIO queue
  bool waits_for_room = false;   ///< in a store buffer, until `mio_free` as far as is known
  std::int32_t waits_since = 0;  ///< when it began to wait for room
  std::uint8_t queue_count = 0;
  std::array<MioEntry, kMioEntries> queue{};
};

struct CtaState {
  std::int32_t barrier_free = 0;  ///< arrivals at barriers are serialised
  std::uint8_t warps_left = 0;
  std::array<std::uint8_t, kBarriers> arrived{};
};

/// When each line of the launch's constants is there; kNever: nobody asked for it yet.
using ConstantLines = std::array<std::int32_t, trace::kConstantLines>;

struct SmState {
  std::int32_t lsu_free = 0;       ///< data path of shared memory
  std::int32_t request_free = 0;   ///< stores and reductions leave the SM until here
  std::int32_t fill_free = 0;      ///< the path of instruction lines to the sub-cores is taken until here
  std::int32_t far_fill_free = 0;  ///< the same, of lines from the L2
  ConstantLines loaded_constants = never<trace::kConstantLines>();   ///< of LDC
  ConstantLines operand_constants = never<trace::kConstantLines>();  ///< of the other instructions
  std::uint8_t last_served = kMaxSubCores - 1;                       ///< took the data path last
  std::int32_t constants_come = 0;                                   ///< until here
  bool has_constants = false;                                        ///< some line has been read
  std::array<SubCoreState, kMaxSubCores> sub_cores{};
  std::array<CtaState, kMaxCtas> ctas{};
  std::array<WarpState, kMaxWarps> warps{};
};

/// A register of a warp that runs without control bits.
struct RegisterState {
  std::int32_t ready = 0;    ///< arrival of its value
  std::int32_t is_long = 0;  ///< 1: which comes from global memory; 0 once it is there
};

}  // namespace warpscope::sm

// What the GPU keeps while a launch runs.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "model/gpu/cta_dispatcher.hpp"
#include "model/gpu/extrapolation.hpp"
#include "model/gpu/gpu.hpp"
#include "model/gpu/path_watch.hpp"
#include "model/gpu/wave_skipper.hpp"
#include "model/memory/l2.hpp"
#include "model/sim/event_queue.hpp"
#include "model/sm/decoded_launch.hpp"
#include "model/sm/slice_memo.hpp"
#include "model/sm/sm.hpp"

namespace warpscope::gpu {

/// A launch in progress.
struct Gpu::LaunchState {
  const trace::Launch& launch;
  sm::DecodedLaunch decoded;
  CtaDispatcher dispatcher;
  Sample sample;
  std::span<const std::unique_ptr<sm::Sm>> sms;  ///< by group
  std::optional<WaveSkipper> skipper{};
  std::optional<PathWatch> path_watch{};
  memory::L2::Load steady_load{};  ///< while parts of paths are left out
  sm::SliceMemo memo{};
  sim::EventQueue<Event> events{};
  struct GroupState {
    sim::Cycles local_time = 0;  ///< start of its next slice
    bool slice_pending = false;
    int resident = 0;              ///< CTAs that are simulated
    int active = 0;                ///< SMs with work
    sim::Cycles active_since = 0;  ///< time of the last change of `active`
    double work = 0;               ///< instructions of all its SMs up to `local_time`
    double work_per_cycle = 0;     ///< in its last slice
    struct Resident {
      std::size_t number = 0;  ///< in order of dispatch
      std::size_t cta_class = 0;
      sim::Cycles start = 0;
    };
    std::array<Resident, sm::kMaxCtas> resident_ctas{};  ///< that are simulated, by slot
  };
  std::vector<GroupState> groups;
  sim::Cycles end = 0;
  std::uint64_t sm_active_cycles = 0;
  std::exception_ptr failure{};  ///< what ended the launch early
  std::uint64_t completed = 0;
  double skipped_cycles = 0;  ///< of waves that are left out

  /// Instructions of all SMs up to `now`, which is about where all groups have come to.
  double work_at(sim::Cycles now) const {
    double sum = 0;
    for (const GroupState& group : groups) {
      sum += group.work +
             (group.resident > 0 ? group.work_per_cycle * static_cast<double>(now - group.local_time) : 0);
    }
    return sum;
  }

  int first_busy_group() const {
    const auto busy =
        std::ranges::find_if(groups, [](const GroupState& group) { return group.resident > 0; });
    return static_cast<int>(busy - groups.begin());
  }

  /// From `now` on `active` SMs of the group have work. Starts lie ahead, so an end may come before one.
  void set_active(GroupState& group, int active, sim::Cycles now) {
    if (now > group.active_since) {
      sm_active_cycles +=
          static_cast<std::uint64_t>(group.active) * static_cast<std::uint64_t>(now - group.active_since);
      group.active_since = now;
    }
    group.active = active;
  }
};

}  // namespace warpscope::gpu

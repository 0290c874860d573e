// One SmCore on its own, with a memory that answers whatever a test wants.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "model/sm/sm_core.hpp"
#include "tests/support/test_config.hpp"
#include "tests/support/trace_builder.hpp"

namespace warpscope::test {

/// Runs the CTAs of a launch on one SM. Times are counted from the first cycle in which a warp can issue:
/// when the first instruction line has arrived.
class CoreBench {
 public:
  struct Access {
    std::int64_t time = 0;  ///< when it left the SM's data path
    sm::MemoryRequest request;
  };
  /// Cycles from there to the answer: to the data, or to the word that they are stored.
  using Answer = std::function<std::int32_t(const sm::MemoryRequest&)>;

  CoreBench(const hw::HwConfig& config, trace::Launch launch, int slots = 1,
            std::vector<trace::Tensor> tensors = {tensor("t", 1 << 30)})
      : config_(config),
        trace_{std::move(tensors), {std::move(launch)}},
        decoded_(sm::decode(config_, trace_, trace_.launches[0])),
        core_(config_, trace_, decoded_, slots, sent_),
        ends_(static_cast<std::size_t>(slots), -1),
        first_issue_(config.sm.icache.l1_fill_cycles) {
    for (int slot = 0; slot < slots; ++slot) {
      install(slot);
    }
  }
  CoreBench(const CoreBench&) = delete;
  CoreBench& operator=(const CoreBench&) = delete;

  void answer(Answer answer) { answer_ = std::move(answer); }
  void answer(std::int32_t cycles) {
    answer_ = [cycles](const sm::MemoryRequest&) { return cycles; };
  }
  /// Until all CTAs have ended or none can, in windows of so many cycles, which no answer may be shorter
  /// than. Returns when the last CTA issued its last EXIT. With `moves_origin` the origin is moved in front
  /// of each window.
  std::int64_t run(std::int32_t window_cycles = 1, bool moves_origin = false) {
    std::int64_t end = -1;
    std::int32_t next = 0;
    while (next != sm::kNever && (!core_.idle() || !sent_.empty())) {
      if (moves_origin) {
        core_.move_origin(next);
        origin_ += next;
        next = 0;
      }
      const std::int32_t window_end = next + window_cycles;
      std::vector<sm::Completion> completions;
      core_.run_until(window_end, completions);
      for (const auto& [time, slot] : completions) {
        ends_[slot] = end = time_of(time);
      }
      for (const sm::SentRequest& sent : std::exchange(sent_, {})) {
        accesses_.push_back({time_of(sent.time), sent.request});
        core_.answer(sent, sent.time + answer_(sent.request));
      }
      next = core_.run_until(window_end, completions);
    }
    deadlock_ = !core_.idle();
    return end;
  }

  std::int64_t end_of(int slot) const { return ends_[static_cast<std::size_t>(slot)]; }
  const std::vector<Access>& accesses() const { return accesses_; }
  bool deadlock() const { return deadlock_; }
  sm::SmCore& core() { return core_; }
  std::uint64_t issued(trace::Opcode opcode) {
    return core_.issued_by_opcode()[static_cast<std::size_t>(opcode)];
  }
  /// Warp cycles charged to a reason.
  std::uint64_t stalled(metrics::Stall reason) {
    return core_.counters().stall_warp_cycles[static_cast<std::size_t>(reason)];
  }
  std::uint64_t all_warp_cycles() {
    std::uint64_t sum = 0;
    for (const std::uint64_t cycles : core_.counters().stall_warp_cycles) {
      sum += cycles;
    }
    return sum;
  }

 private:
  std::int64_t time_of(std::int32_t time) const { return origin_ + time - first_issue_; }

  /// Slot i holds CTA (i, 0, 0).
  void install(int slot) {
    const trace::Launch& launch = trace_.launches[0];
    sm::ResidentCta cta;
    cta.block = {static_cast<std::uint32_t>(slot), 0, 0};
    cta.cta_class = &launch.classes[trace::class_of(launch, cta.block[0], 0, 0)];
    core_.install(slot, cta, 0);
  }

  hw::HwConfig config_;
  trace::Trace trace_;
  sm::DecodedLaunch decoded_;
  std::vector<sm::SentRequest> sent_;
  sm::SmCore core_;
  Answer answer_ = [](const sm::MemoryRequest&) { return 1; };
  std::vector<Access> accesses_;
  std::vector<std::int64_t> ends_;
  std::int64_t first_issue_;
  std::int64_t origin_ = 0;
  bool deadlock_ = false;
};

/// When the warps of one CTA that runs `program` have exited: as every EXIT issues as soon as it may, a gate
/// in front of it shows to the cycle.
inline std::int64_t exit_time(const hw::HwConfig& config, const Program& program, std::uint32_t warps = 1,
                              std::vector<std::uint32_t> trips = {}) {
  return CoreBench(config, one_program(program.build(), warps, 1, std::move(trips))).run();
}

}  // namespace warpscope::test

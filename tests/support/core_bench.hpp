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
/// when the first instruction line has arrived. That cycle lies on the grid of arrivals.
class CoreBench {
 public:
  struct Access {
    std::int64_t time = 0;  ///< when the instruction issued
    sm::MemoryRequest request;
  };
  using Answer = std::function<memory::Response(const sm::MemoryRequest&)>;

  CoreBench(const hw::HwConfig& config, trace::Launch launch, int slots = 1,
            std::vector<trace::Tensor> tensors = {tensor("t", 1 << 30)})
      : config_(config),
        trace_{std::move(tensors), {std::move(launch)}},
        decoded_(sm::decode(config_, trace_, trace_.launches[0])),
        core_(config_, trace_, trace_.launches[0], decoded_, slots),
        ends_(static_cast<std::size_t>(slots), -1),
        now_(-std::int64_t{config.sm.icache.l1_fill_cycles}) {
    for (int slot = 0; slot < slots; ++slot) {
      install(slot);
    }
  }
  CoreBench(const CoreBench&) = delete;
  CoreBench& operator=(const CoreBench&) = delete;

  void answer(Answer answer) { answer_ = std::move(answer); }
  void answer(memory::Response response) {
    answer_ = [response](const sm::MemoryRequest&) { return response; };
  }
  /// Until all CTAs have ended or none can. Returns when the last one issued its last EXIT.
  std::int64_t run(std::int32_t min_cycles = 512, std::int32_t max_cycles = 4096) {
    const sm::MemoryPort port = [this](const sm::MemoryRequest& request, std::int32_t time) {
      if (request.bytes == 0) {
        return memory::Response{};
      }
      accesses_.push_back({now_ + time, request});
      return answer_(request);
    };
    std::int64_t end = now_;
    while (!core_.idle() && !deadlock_) {
      core_.set_phase(now_ + kGridOrigin);
      const sm::Slice slice = core_.run_slice(min_cycles, max_cycles, port, nullptr);
      for (const auto& [time, slot] : slice.completions) {
        ends_[slot] = end = now_ + time;
      }
      now_ += slice.end;
      deadlock_ = slice.deadlock;
    }
    return end;
  }

  std::int64_t end_of(int slot) const { return ends_[static_cast<std::size_t>(slot)]; }
  const std::vector<Access>& accesses() const { return accesses_; }
  bool deadlock() const { return deadlock_; }
  sm::SmCore& core() { return core_; }
  std::uint64_t issued(trace::Opcode opcode) {
    return core_.counters().issued_by_opcode[static_cast<std::size_t>(opcode)];
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
  /// Some multiple of the grid, so that no absolute time is negative.
  static constexpr std::int64_t kGridOrigin = 1024 * sm::kArrivalGrid;

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
  sm::SmCore core_;
  Answer answer_ = [](const sm::MemoryRequest&) { return memory::Response{}; };
  std::vector<Access> accesses_;
  std::vector<std::int64_t> ends_;
  std::int64_t now_;
  bool deadlock_ = false;
};

/// When the warps of one CTA that runs `program` have exited: as every EXIT issues as soon as it may, a gate
/// in front of it shows to the cycle.
inline std::int64_t exit_time(const hw::HwConfig& config, const Program& program, std::uint32_t warps = 1,
                              std::vector<std::uint32_t> trips = {}) {
  return CoreBench(config, one_program(program.build(), warps, 1, std::move(trips))).run();
}

}  // namespace warpscope::test

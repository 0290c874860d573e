// Fast mode: some SMs stand for others, iterations that repeat are left out, and so are waves of CTAs.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "model/engine/engine.hpp"
#include "model/fast/coaster.hpp"
#include "model/fast/echo.hpp"
#include "model/fast/extrapolation.hpp"
#include "model/fast/loop_footprint.hpp"
#include "model/fast/pass_skipper.hpp"
#include "model/fast/unsimulated_ctas.hpp"
#include "model/fast/wave_skipper.hpp"

namespace warpscope::fast {

/// Decides what one launch leaves out.
class FastPolicy : public engine::Policy {
 public:
  /// All arguments must outlive it.
  FastPolicy(const hw::HwConfig& config, const trace::Trace& trace, const trace::Launch& launch,
             memory::MemorySystem& memory, const std::vector<gpu::SmGroup>& groups);

  /// Must be called before the first window.
  void attach(engine::Engine& engine);
  /// What the whole launch does, once the engine has come to its end.
  gpu::LaunchCounts finish();

  const std::vector<gpu::SmGroup>& groups() const override { return simulated_; }
  engine::RequestTap* tap(std::size_t sm, const sm::DecodedLaunch& decoded, int cta_slots) override;
  sm::ResidentCta begin_ctas(const gpu::Dispatch& dispatch, int slot) override;
  int active_sms(std::size_t sm) const override { return sms_[sm].active; }
  bool in_step() const override { return like_ctas_ && !unsimulated_; }
  void end_cta(std::size_t sm, int slot, sim::Cycles time) override;
  void end_window(sim::Cycles begin, sim::Cycles end) override;
  bool allows_gaps() const override;

 private:
  struct Resident {
    std::size_t number = 0;  ///< in order of dispatch
    std::size_t cta_class = 0;
    sim::Cycles start = 0;
    bool occupied = false;
  };
  /// An SM that leaves something out.
  struct Coasting {
    Coast coast;
    sim::Cycles begin = 0;
    std::vector<std::vector<Stretch>> stretches;  ///< by slot
    std::vector<std::uint32_t> done;              ///< iterations, by slot
    int members = 1;                              ///< SMs that do as this one
    double counted = 0;                           ///< part of the coast that has been counted
  };
  struct Sampled {
    std::unique_ptr<Echo> echo;
    std::unique_ptr<Coaster> coaster;
    std::optional<Coasting> coasting;
    std::array<Resident, sm::kMaxCtas> residents{};
    sm::SmCounters counted;  ///< of the SM itself
    bool was_in_loops = false;
    int active = 0;  ///< see active_sms()
    int last_active = 0;
  };
  /// Gives the next CTAs to SMs that are not simulated while the chip fills up, until it is the turn of one
  /// that is.
  void fill_chip();
  void advance_unsimulated(sim::Cycles now);
  /// The CTAs of `residents` slots of an SM have executed so much.
  void observe_pace(double instructions, int residents, sim::Cycles cycles);
  void begin_coast(std::size_t sm, Coast coast, sim::Cycles now);
  void coast(std::size_t sm, sim::Cycles begin, sim::Cycles end);
  void skip(const SkippedPasses& skipped, sim::Cycles now);
  /// Counts what the SM has left out up to `now`.
  void count_coast(std::size_t sm, sim::Cycles now);
  LaunchProgress progress(sim::Cycles now);
  void end_wave(sim::Cycles now);
  bool in_loops(std::size_t sm) const;
  /// CTAs of the SM have begun or ended.
  void update_active(std::size_t sm);
  /// SMs that each of the simulated ones stands for just now, itself included.
  std::vector<int> members() const;
  int residents(std::size_t sm) const;

  const hw::HwConfig& config_;
  const trace::Trace& trace_;
  const trace::Launch& launch_;
  std::uint64_t slots_;                  ///< CTAs that run at a time on the whole chip
  std::vector<gpu::SmGroup> groups_;     ///< an SM that is simulated, and those that it stands for
  std::vector<gpu::SmGroup> simulated_;  ///< it, and those that keep step with it
  /// Where CTAs are of unequal length none keeps step with another: those of the SMs that are not simulated.
  std::optional<UnsimulatedCtas> unsimulated_;
  /// The first of those begin within so many instructions: of equal length they would stay in step otherwise,
  /// and are at chance places of their iterations.
  int first_begin_within_ = 1;
  memory::MemorySystem& memory_;
  engine::Engine* engine_ = nullptr;
  std::vector<std::uint64_t> class_work_;  ///< instructions of a CTA, by class
  bool like_ctas_;                         ///< has_like_ctas()
  Sample sample_;
  WaveSkipper skipper_;
  std::optional<PassSkipper> passes_;  ///< none before attach()
  bool whole_;                         ///< every SM is simulated, and all its iterations
  LoopPaces paces_;
  std::vector<Sampled> sms_;
  std::vector<HbmBytes> left_out_;  ///< by tensor, moved in passes that were left out
  sm::SmCounters counted_;          ///< of all SMs
  std::uint64_t stepped_ = 0;
  sim::Cycles last_end_ = 0;  ///< of a window, or of passes that all SMs leave out
};

}  // namespace warpscope::fast

// Passes through loops repeat: CTAs that go through the same inner loops again and again leave many passes
// out at once.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "model/engine/sm_unit.hpp"
#include "model/fast/progress.hpp"

namespace warpscope::fast {

/// Passes that all CTAs of the chip leave out together, from the same instruction on.
struct SkippedPasses {
  std::uint32_t passes = 0;          ///< of each CTA
  sim::Cycles cycles = 0;            ///< that they take
  LaunchProgress part;               ///< what stands for them
  double repeats = 0;                ///< how often that fits into them
  std::vector<double> instructions;  ///< of warps, left out on each SM
};

/// Watches all simulated SMs between windows. A part ends when the last of all warps has come to its next
/// pass, within the outermost loop that all of them are in. Once a part takes as long for its work as the one
/// before, and moves as many bytes, iterations of that loop are left out without their accesses: they go over
/// the same data, or over as much that is new. Where passes become shorter, none are left out beyond the one
/// at which what they go over begins to fit the L2.
class PassSkipper {
 public:
  /// `decoded` must outlive it.
  PassSkipper(const sm::DecodedLaunch& decoded, sim::Cycles window_cycles, std::int64_t l2_bytes);

  /// CTAs have come or gone.
  void start_anew() { loop_ = -1; }
  /// Whether the program has loops that can be left out.
  bool applies() const { return applies_; }
  /// Whether a part ends at `now`.
  bool part_ends(const std::vector<std::unique_ptr<engine::SmUnit>>& sms, sim::Cycles now);
  /// Takes the progress where a part ends, its work in instructions of all SMs, of which `members` do as each
  /// of the simulated ones; returns what may be left out now.
  std::optional<SkippedPasses> observe(LaunchProgress progress, const std::vector<int>& members);
  /// Lets the warps of one SM go on so many passes later.
  void advance(sm::SmCore& core, const SkippedPasses& skipped) const;

 private:
  struct Cta {
    std::size_t sm = 0;
    const sm::ResidentCta* resident = nullptr;
    std::uint32_t iteration = ~std::uint32_t{0};  ///< of the outermost loop, of the last of its warps
    std::uint32_t pass = ~std::uint32_t{0};       ///< likewise, of all in it
    std::uint32_t pc = 0;                         ///< of its first warp
    std::uint32_t left = ~std::uint32_t{0};       ///< passes behind this one, of the first of its warps
  };
  /// Finds all CTAs; false unless all are in one and the same outermost loop, further than at the last mark.
  /// Where warps have programs of their own, this is one with the same trips; otherwise the warps of each are
  /// in one and the same pass through a loop in it.
  bool find_ctas(const std::vector<std::unique_ptr<engine::SmUnit>>& sms);
  /// False unless it is in that loop, and in a later pass than at the last mark.
  bool add_cta(const sm::SmCore& core, int slot, std::size_t sm);
  /// Whether all warps of the CTA are in one and the same pass.
  bool are_together(const sm::SmCore& core, int slot, const sm::DecodedLoop& outer, const Cta& cta) const;
  /// Of the loop in `outer` that the CTA goes through most often in this iteration.
  double most_trips(const sm::DecodedLoop& outer, const Cta& cta) const;
  /// Whether once through the loop is a pass: it has at least half of the `most` trips in `outer`.
  bool is_pass(const sm::DecodedLoop& loop, const sm::DecodedLoop& outer, const Cta& cta, double most) const;
  /// Passes in `outer` that the CTA has behind it.
  std::uint32_t passes_of(const sm::DecodedLoop& outer, const Cta& cta) const;
  /// How many of `most` iterations may be left out at once where they become shorter.
  std::uint32_t unequal_passes(const LaunchProgress& part, const std::vector<int>& members,
                               std::uint32_t most) const;
  /// Instructions of CTA `number` in its longest pass of iteration `iteration`.
  double longest_pass(std::size_t number, std::uint32_t iteration) const;
  /// Instructions that CTA `number` leaves out with so many iterations of the outermost loop.
  double left_out(std::size_t number, std::uint32_t iterations) const;
  /// Instructions of CTA `number` in iteration `iteration` of the outermost loop.
  double work_of_pass(std::size_t number, std::uint32_t iteration) const;
  double trips_of(const sm::DecodedLoop& loop, const sm::ResidentCta& cta, std::uint32_t iteration) const;
  /// How often the loop is entered in an iteration of the outermost one: trips of those in between.
  double entries_of(const sm::DecodedLoop& loop, const sm::ResidentCta& cta, std::uint32_t iteration) const;

  const sm::DecodedLaunch& decoded_;
  sim::Cycles window_cycles_;  ///< of which what is left out is a multiple
  std::int64_t l2_bytes_;
  bool applies_;
  int loop_ = -1;  ///< in which the marks were taken; -1: none
  int found_ = -1;
  std::uint32_t last_ = 0;  ///< pass of the CTA that is last, at the last mark
  std::vector<Cta> ctas_;
  std::vector<int> outer_loops_;  ///< of the warps of all of `ctas_`; -1: has ended
  LastParts ends_;
  std::uint32_t apart_ = 0;  ///< most iterations that two warps of a CTA have been
};

}  // namespace warpscope::fast

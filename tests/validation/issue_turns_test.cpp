// Which of two warps of a sub-core issues when, on the model and on an H200.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <vector>

#include "model/gpu/simulate.hpp"
#include "model/hw/config_loader.hpp"
#include "model/trace/opcode.hpp"
#include "tests/validation/register_streams.hpp"

namespace warpscope::validation {
namespace {

const std::string kSource = WARPSCOPE_SOURCE_DIR;
constexpr std::int64_t kLongEnough = 250;  ///< cycles that both go through their loops

/// When the first warp of each CTA read the clock, round by round of its loop.
class ClockReads final : public metrics::Observer {
 public:
  explicit ClockReads(const trace::Trace& trace) {
    for (const trace::WarpProgram& program : trace.launches[0].programs) {
      for (const trace::Instruction& instruction : program.code) {
        reads_.push_back(instruction.opcode == trace::Opcode::CS2R);
      }
    }
  }
  bool watches(int /*sm*/, std::int64_t /*cycle*/) override { return true; }
  void slice(int /*sm*/, std::int64_t start, std::int64_t /*end*/,
             std::span<const metrics::SmEvent> events) override {
    for (const metrics::SmEvent& event : events) {
      if (event.kind != metrics::SmEvent::Kind::issue || event.warp % 4 != 0) {
        continue;
      }
      const std::size_t cta = event.warp / 4;
      if (rounds_[cta].empty() || event.pc < last_[cta]) {
        rounds_[cta].emplace_back();
      }
      last_[cta] = event.pc;
      if (reads_[event.pc]) {
        rounds_[cta].back().push_back(start + event.begin);
      }
    }
  }
  const std::array<std::vector<std::vector<std::int64_t>>, 2>& rounds() const { return rounds_; }

 private:
  std::vector<bool> reads_;
  std::array<std::uint32_t, 2> last_{};
  std::array<std::vector<std::vector<std::int64_t>>, 2> rounds_;
};

/// Cycles between two reads in the later 70 % of what lies within both rounds.
std::optional<double> interval(const std::vector<std::int64_t>& reads, std::int64_t from, std::int64_t to) {
  from += (to - from) * 3 / 10;
  const auto first = std::ranges::lower_bound(reads, from);
  const auto end = std::ranges::upper_bound(reads, to);
  const auto count = end - first;
  return count < 3 ? std::nullopt
                   : std::optional(static_cast<double>(*(end - 1) - *first) / static_cast<double>(count - 1));
}

/// The median over all pairs of rounds that go on at the same time for long enough.
std::array<std::optional<double>, 2> intervals(const ClockReads& reads) {
  std::array<std::vector<double>, 2> all;
  for (const auto& older : reads.rounds()[0]) {
    for (const auto& younger : reads.rounds()[1]) {
      const bool alone = older.empty() || younger.empty();
      const auto& one = older.empty() ? younger : older;
      const auto& other = alone ? one : younger;
      if (one.empty() ||
          std::min(one.back(), other.back()) - std::max(one[0], other[0]) < (alone ? 1 : kLongEnough)) {
        continue;
      }
      for (const std::size_t cta : {0U, 1U}) {
        const auto value = interval(cta == 0 ? older : younger, std::max(one[0], other[0]),
                                    std::min(one.back(), other.back()));
        if (value) {
          all[cta].push_back(*value);
        }
      }
    }
  }
  std::array<std::optional<double>, 2> result;
  for (const std::size_t cta : {0U, 1U}) {
    std::ranges::sort(all[cta]);
    result[cta] = all[cta].empty() ? std::nullopt : std::optional(all[cta][all[cta].size() / 2]);
  }
  return result;
}

TEST(IssueTurns, TwoWarpsIssueAsOftenAsOnHardware) {
  const std::vector<std::string> one_sm = {"gpu.sm_count=1"};
  const hw::HwConfig config = hw::load("h200-sxm-141gb", one_sm, kSource + "/hwconfigs").config;
  std::array<double, 2> sum{};
  std::array<int, 2> count{};
  for (const IssueTurns& row :
       load_issue_turns(kSource + "/experiments/reference/measured-h200/issue_turns.csv")) {
    const trace::Trace trace = turns_trace(row);
    trace::validate(trace);
    ClockReads reads(trace);
    gpu::SimulationOptions options;
    options.mode = gpu::Mode::detailed;
    options.observer = &reads;
    gpu::simulate(config, trace, options);
    const auto model = intervals(reads);
    for (const std::size_t cta : {0U, 1U}) {
      if (row.cycles[cta] && model[cta]) {
        sum[row.is_drawn ? 1 : 0] += std::min(1.0, std::abs(*model[cta] / *row.cycles[cta] - 1));
        ++count[row.is_drawn ? 1 : 0];
      }
    }
  }
  for (const std::size_t drawn : {0U, 1U}) {
    fmt::print("{} streams: {} intervals, {:.2f} % off in the mean\n", drawn == 0 ? "chosen" : "drawn",
               count[drawn], 100 * sum[drawn] / count[drawn]);
  }
  ASSERT_GT(count[0], 400);
  ASSERT_GT(count[1], 80);
  EXPECT_LT(sum[0] / count[0], 0.035);
  EXPECT_LT(sum[1] / count[1], 0.03);
}

}  // namespace
}  // namespace warpscope::validation

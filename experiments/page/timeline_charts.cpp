// What SMs and warps did and when, as charts.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <tuple>

#include "experiments/page/run_charts.hpp"

namespace warpscope::experiments {
namespace {

using metrics::TimelineData;
using metrics::TimelineWarp;

constexpr std::size_t kMostCtas = 3000;
constexpr std::size_t kMostWarpSpans = 6000;
/// A few iterations of an attention kernel's loop.
constexpr std::int64_t kShownCycles = 3000;

/// The shades of a warp's lane, in their order.
constexpr std::array kKinds = {"tensor pipe",         "XU pipe",          "FMA, ALU and others",
                               "waits for something", "waits at barrier", "memory instructions"};

const char* kind(const TimelineWarp& span) {
  if (span.instructions == 0) {
    return span.stall == metrics::Stall::barrier ? kKinds[4] : kKinds[3];
  }
  switch (span.pipe) {
    case trace::Pipe::tensor:
      return kKinds[0];
    case trace::Pipe::xu:
      return kKinds[1];
    case trace::Pipe::lsu:
      return kKinds[5];
    default:
      return kKinds[2];
  }
}

std::string state(const TimelineWarp& span) {
  return span.instructions == 0 ? metrics::name(span.stall)
                                : fmt::format("{} to {}", span.instructions, trace::name(span.pipe));
}

/// So many cycles in the middle, where the loop runs.
metrics::CycleSpan middle(const TimelineData& timeline, std::int64_t cycles) {
  metrics::CycleSpan all = metrics::kAlways;
  std::swap(all.begin, all.end);
  for (const TimelineWarp& span : timeline.warps) {
    all = {std::min(all.begin, span.span.begin), std::max(all.end, span.span.end)};
  }
  const std::int64_t begin = std::max(all.begin, (all.begin + all.end - cycles) / 2);
  return {begin, std::min(all.end, begin + cycles)};
}

std::vector<TimelineWarp> spans_within(const TimelineData& timeline, const metrics::CycleSpan& shown) {
  std::vector<TimelineWarp> spans;
  std::ranges::copy_if(timeline.warps, std::back_inserter(spans),
                       [&](const TimelineWarp& span) { return span.span.overlaps(shown); });
  return spans;
}

}  // namespace

Chart cta_chart(const TimelineData& timeline) {
  Chart chart("lanes", "CTAs on the SMs",
              {{"sm", "SM", Format::count},
               {"slot", "slot", Format::count},
               {"cta", "CTA", Format::count},
               {"start_cycles", "start", Format::cycles},
               {"end_cycles", "end", Format::cycles}});
  std::set<int> sms;
  for (const metrics::TimelineCta& cta : timeline.ctas) {
    sms.insert(cta.sm);
  }
  const auto step = static_cast<int>(timeline.ctas.size() / kMostCtas + 1);
  chart.option("lanes", {"sm", "slot"}).option("lane_label", "SM");
  chart.option(
      "note",
      fmt::format("A lane for each CTA that an SM holds at a time; neighbours in a lane differ in shade.{}",
                  step > 1 ? fmt::format(" One SM of {} is shown.", step) : ""));
  std::vector<metrics::TimelineCta> ctas;
  std::ranges::copy_if(timeline.ctas, std::back_inserter(ctas),
                       [&](const auto& cta) { return cta.sm % step == 0; });
  std::ranges::stable_sort(ctas, {},
                           [](const auto& cta) { return std::tuple(cta.sm, cta.slot, cta.span.begin); });
  for (const metrics::TimelineCta& cta : ctas) {
    chart.add_row({cta.sm, cta.slot, cta.number, cta.span.begin, cta.span.end});
  }
  return chart;
}

Chart warp_chart(const TimelineData& timeline) {
  Chart chart("lanes", fmt::format("Warps of SM {}", timeline.sm),
              {{"subcore", "sub-core", Format::count},
               {"warp", "warp", Format::count},
               {"start_cycles", "start", Format::cycles},
               {"end_cycles", "end", Format::cycles},
               {"state", "state", Format::text},
               {"kind", "kind", Format::text}});
  chart.option("lanes", {"subcore", "warp"}).option("lane_label", "warp").option("state", "kind");
  chart.option("states", kKinds);
  chart.option(
      "note",
      "Lanes are named sub-core/warp; instructions to one pipe that follow one another are one span.");
  if (timeline.launches.empty()) {
    return chart;
  }
  // Fewer cycles where so much happens that a page could not hold it.
  metrics::CycleSpan shown = middle(timeline, kShownCycles);
  std::vector<TimelineWarp> warps = spans_within(timeline, shown);
  while (warps.size() > kMostWarpSpans) {
    shown = middle(timeline, shown.cycles() / 2);
    warps = spans_within(timeline, shown);
  }
  const int sub_cores = std::max(1, timeline.launch_at(shown.begin).sub_cores);
  std::ranges::stable_sort(warps, {}, [&](const TimelineWarp& span) {
    return std::tuple(span.warp % sub_cores, span.warp, span.span.begin);
  });
  for (const TimelineWarp& span : warps) {
    const metrics::CycleSpan seen = span.span.within(shown);
    chart.add_row({span.warp % sub_cores, span.warp, seen.begin, seen.end, state(span), kind(span)});
  }
  return chart;
}

}  // namespace warpscope::experiments

#include "experiments/timeline/timeline_excerpt.hpp"

#include <algorithm>
#include <map>
#include <string>

namespace warpscope::experiments {
namespace {

using Json = nlohmann::json;
using metrics::TimelineCta;
using metrics::TimelineData;
using metrics::TimelineWarp;

// What a chart can draw and a reader can follow.
constexpr std::size_t kMostCtas = 3000;
constexpr std::size_t kMostSpans = 2500;

Json span_json(const metrics::CycleSpan& span) {
  return {{"start_cycles", span.begin}, {"end_cycles", span.end}};
}

Json ctas_by_sm(const TimelineData& data) {
  std::map<int, std::vector<const TimelineCta*>> by_sm;
  for (const TimelineCta& cta : data.ctas) {
    by_sm[cta.sm].push_back(&cta);
  }
  const std::size_t distance = data.ctas.size() / kMostCtas + 1;
  Json sms = Json::array();
  std::size_t number = 0;
  for (auto& [sm, ctas] : by_sm) {
    if (number++ % distance != 0) {
      continue;
    }
    std::ranges::sort(ctas, {}, [](const TimelineCta* cta) { return cta->span.begin; });
    Json list = Json::array();
    for (const TimelineCta* cta : ctas) {
      Json item = span_json(cta->span);
      item["cta"] = cta->number;
      list.push_back(std::move(item));
    }
    sms.push_back({{"sm", sm}, {"ctas", std::move(list)}});
  }
  return sms;
}

std::string state_of(const TimelineWarp& warp) {
  return warp.instructions > 0 ? std::string(trace::name(warp.pipe)) : std::string(metrics::name(warp.stall));
}

Json warps_of_sm(const TimelineData& data) {
  std::vector<TimelineWarp> spans = data.warps;
  std::ranges::stable_sort(spans, {}, [](const TimelineWarp& warp) { return warp.span.begin; });
  const std::int64_t middle = (data.sm_window.begin + data.sm_window.end) / 2;
  auto first =
      std::ranges::lower_bound(spans, middle, {}, [](const TimelineWarp& warp) { return warp.span.begin; });
  if (static_cast<std::size_t>(spans.end() - first) < kMostSpans) {
    first = spans.end() - static_cast<std::ptrdiff_t>(std::min(kMostSpans, spans.size()));
  }
  const int sub_cores = data.launches.empty() ? 1 : std::max(1, data.launches.front().sub_cores);
  std::map<std::pair<int, int>, Json> by_warp;  // sub-core and warp
  for (std::size_t i = 0; i < kMostSpans && first != spans.end(); ++i, ++first) {
    Json item = span_json(first->span);
    item["state"] = state_of(*first);
    by_warp[{first->warp % sub_cores, first->warp}].push_back(std::move(item));
  }
  Json warps = Json::array();
  for (auto& [place, list] : by_warp) {
    warps.push_back({{"subcore", place.first}, {"warp", place.second}, {"spans", std::move(list)}});
  }
  return warps;
}

}  // namespace

nlohmann::json timeline_excerpt(const TimelineData& data) {
  return {{"sms", ctas_by_sm(data)}, {"warps", warps_of_sm(data)}};
}

}  // namespace warpscope::experiments

#include "experiments/whatif/why.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "experiments/base/printable.hpp"
#include "experiments/base/text_table.hpp"
#include "experiments/base/usage_error.hpp"
#include "experiments/base/wrapped_text.hpp"
#include "experiments/report/units.hpp"
#include "model/hw/config_loader.hpp"

namespace warpscope::experiments {
namespace {

std::string change_text(const Difference& difference) {
  return fmt::format("{:+.1f} % ± {:.1f}", 100 * difference.share, 100 * difference.plus_minus);
}

bool helps(const Gain& gain) {
  return gain.error.empty() && gain.time.is_certain() && gain.time.share < 0;
}

std::string worth_text(const Gain& gain) {
  return fmt::format("{:.0f} % more of it makes the kernel {:.1f} % faster",
                     100 * (gain.improvement.factor - 1), -100 * gain.time.share);
}

}  // namespace

double Gain::worth() const {
  return error.empty() ? -std::log1p(time.share) / std::log(improvement.factor) : 0;
}

std::vector<Gain> gains(const Point& point, const PoolOptions& workers) {
  const hw::HwConfig config = hw::load(point.model.gpu, point.model.overrides, config_directory()).config;
  std::vector<Gain> result;
  std::vector<Point> points = {point};
  for (Improvement& improvement : improvements(config)) {
    Point better = point;
    better.model.overrides.insert(better.model.overrides.end(), improvement.changes.begin(),
                                  improvement.changes.end());
    points.push_back(std::move(better));
    result.push_back({std::move(improvement), {}, {}});
  }
  const std::vector<Ensemble> ensembles = run_ensembles(points, workers, "why");
  if (!ensembles.front().error.empty()) {
    throw UsageError(ensembles.front().error);
  }
  for (std::size_t i = 0; i < result.size(); ++i) {
    const Ensemble& ensemble = ensembles[i + 1];
    result[i].error = one_line(ensemble.error);
    if (ensemble.error.empty()) {
      result[i].time = difference(ensembles.front(), ensemble);
    }
  }
  std::ranges::stable_sort(result, [](const Gain& a, const Gain& b) {
    return std::pair(helps(a), a.worth()) > std::pair(helps(b), b.worth());
  });
  return result;
}

std::string verdict(const std::vector<Gain>& gains) {
  const auto limits = [](const Gain& gain) { return helps(gain) && !gain.improvement.is_whole_sm; };
  const auto first = std::ranges::find_if(gains, limits);
  if (first == gains.end()) {
    return "No single resource makes a difference that is larger than chance: several are waited for at "
           "once, "
           "or latencies that none of these changes.";
  }
  std::string text = fmt::format("Limited by {}: {}", first->improvement.resource, worth_text(*first));
  if (const auto second = std::find_if(first + 1, gains.end(), limits); second != gains.end()) {
    text += fmt::format("; next comes {}: {}", second->improvement.resource, worth_text(*second));
  }
  return text + '.';
}

std::string gains_note() {
  return fmt::format("Each is the mean of {} runs whose CTAs start a few cycles apart; ± holds 19 in 20.",
                     kMembers);
}

std::string why_text(const std::vector<Gain>& gains) {
  using Align = TextTable::Align;
  TextTable table({{"with more of", Align::left}, {"better by"}, {"time"}, {"worth"}});
  std::string errors;
  for (const Gain& gain : gains) {
    table.add_row({std::string(gain.improvement.resource),
                   fmt::format("{:.0f} %", 100 * (gain.improvement.factor - 1)),
                   gain.error.empty() ? change_text(gain.time) : "-",
                   helps(gain) ? fmt::format("{:.2f}", gain.worth()) : "-"});
    errors += gain.error.empty() ? "" : fmt::format("  {}: {}\n", gain.improvement.resource, gain.error);
  }
  return fitted(
      fmt::format("{}{}\n  {}\n  {}\n"
                  "  Worth: the part of the improvement that reaches the time; 1 is all of it.\n"
                  "  --json says which keys of the GPU were changed.\n",
                  table.text(), errors, verdict(gains), gains_note()));
}

nlohmann::ordered_json why_json(const std::vector<Gain>& gains) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const Gain& gain : gains) {
    json.push_back({{"resource", gain.improvement.resource},
                    {"set", gain.improvement.changes},
                    {"factor", gain.improvement.factor}});
    if (gain.error.empty()) {
      json.back()["time_change"] = gain.time.share;
      json.back()["plus_minus"] = gain.time.plus_minus;
      json.back()["worth"] = helps(gain) ? gain.worth() : 0;
    } else {
      json.back()["error"] = gain.error;
    }
  }
  return json;
}

}  // namespace warpscope::experiments

#include "experiments/page/compare_page.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "experiments/point/point_json.hpp"
#include "experiments/report/units.hpp"

namespace warpscope::experiments {
namespace {

using Json = nlohmann::ordered_json;

struct Group {
  const char* name;  ///< of ComparedNumber
  const char* id;
  const char* title;
  const char* chart;  ///< its title
  Format format;
  double least_effect;  ///< below which a number is left out
};

constexpr std::array kGroups = {
    Group{"busy", "busy", "How busy each unit was", "Busy share of each unit", Format::percent, 0.005},
    Group{"stalls", "stalls", "Why warps waited", "Warps that wait, per issue", Format::number, 0.01},
    Group{"HBM bytes", "traffic", "Bytes across HBM", "HBM bytes by tensor", Format::bytes, 0.005},
    Group{"instructions", "instructions", "What was executed", "Warp instructions", Format::count, 0.005},
};

std::string side(const Point& point) {
  std::string text = describe(point);
  if (!point.model.overrides.empty()) {
    text += fmt::format(", {}", fmt::join(point.model.overrides, " "));
  }
  return text;
}

Chart chart_of(const Group& group, const Comparison& comparison) {
  Chart chart("intervals", group.chart,
              {{"name", "what", Format::text},
               {"difference", "B less A", group.format == Format::percent ? Format::change : group.format},
               {"plus_minus", "\u00b1", group.format},
               {"a", "A", group.format},
               {"b", "B", group.format}});
  chart.option("label", "name")
      .option("baseline", 0)
      .option("note", "Side B less side A, largest difference first.");
  chart.option("marks",
               Json::array({{{"value", "difference"}, {"error", "plus_minus"}, {"label", "B less A"}}}));
  for (const ComparedNumber& number : comparison.numbers) {
    if (number.group == group.name && number.effect >= group.least_effect) {
      chart.add_row({number.name, number.b - number.a, number.plus_minus, number.a, number.b});
    }
  }
  return chart;
}

}  // namespace

Page compare_page(const Comparison& comparison) {
  const double time_a = comparison.a.mean_time_us();
  const double time_b = comparison.b.mean_time_us();
  Page page;
  page.title = "A beside B";
  if (comparison.a.point.kernel == comparison.b.point.kernel) {
    page.title = comparison.a.point.kernel + ": " + page.title;
  }
  page.facts = {{"Time of A", time_text(time_a)},
                {"Time of B", time_text(time_b)},
                {"Change", fmt::format("{:+.1f} % \u00b1 {:.1f}", 100 * comparison.time.share,
                                       100 * comparison.time.plus_minus)},
                {"A limited by", comparison.a.itself().limiter},
                {"B limited by", comparison.b.itself().limiter}};
  page.sentences = {"A: " + side(comparison.a.point), "B: " + side(comparison.b.point), sentence(comparison)};
  for (const Group& group : kGroups) {
    Chart chart = chart_of(group, comparison);
    if (chart.empty()) {
      continue;
    }
    for (const Json& row : chart.json()["rows"]) {
      page.words.push_back(row.front());
    }
    page.sections.push_back({group.id, group.title, {}, {std::move(chart)}});
  }
  return page;
}

}  // namespace warpscope::experiments

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "experiments/base/text_table.hpp"
#include "experiments/base/wrapped_text.hpp"
#include "experiments/point/point_json.hpp"
#include "experiments/report/units.hpp"
#include "experiments/whatif/compare.hpp"

namespace warpscope::experiments {
namespace {

using Align = TextTable::Align;

/// How the numbers of a group are shown, and below which effect they are not worth a line.
struct Group {
  const char* name;
  const char* title;
  double least_effect;
  std::string (*show)(double number);
};

constexpr std::array kGroups = {
    Group{"busy", "Busy, share of all cycles", 0.005, &percent},
    Group{"stalls", "Warps per issue that wait", 0.01,
          [](double number) { return fmt::format("{:.2f}", number); }},
    Group{"HBM bytes", "HBM bytes by tensor", 0.005,
          [](double number) { return bytes_text(static_cast<std::uint64_t>(number)); }},
    Group{"instructions", "Warp instructions", 0.005,
          [](double number) { return grouped(static_cast<std::int64_t>(number)); }},
};

std::string set_text(const Point& point) {
  std::string text;
  for (const std::string& change : point.model.overrides) {
    text += (text.empty() ? ", " : " ") + change;
  }
  return text;
}

std::string time_change(const Difference& time) {
  return fmt::format("{:+.1f} % ± {:.1f}", 100 * time.share, 100 * time.plus_minus);
}

const ComparedNumber* largest(const Comparison& comparison, const std::string& group) {
  const auto found = std::ranges::find(comparison.numbers, group, &ComparedNumber::group);
  return found == comparison.numbers.end() ? nullptr : &*found;
}

}  // namespace

std::string sentence(const Comparison& comparison) {
  const Difference& time = comparison.time;
  if (!time.is_certain()) {
    return fmt::format(
        "No difference: {} is within what it makes when CTAs start a few cycles earlier or later.",
        time_change(time));
  }
  std::string text = fmt::format("B is {:.1f} % {} than A", 100 * std::abs(time.share),
                                 time.share < 0 ? "faster" : "slower");
  if (const ComparedNumber* busy = largest(comparison, "busy")) {
    text += fmt::format(": the {} is {} busy instead of {}", busy->name, percent(busy->b), percent(busy->a));
  }
  if (const ComparedNumber* stall = largest(comparison, "stalls")) {
    text += fmt::format(", and {:.2f} warps per issue wait for {} instead of {:.2f}", stall->b, stall->name,
                        stall->a);
  }
  return text + '.';
}

std::string compare_text(const Comparison& comparison) {
  const PointResult& a = comparison.a.itself();
  const PointResult& b = comparison.b.itself();
  std::string page =
      fmt::format("A: {}{}\nB: {}{}\n\n", describe(comparison.a.point), set_text(comparison.a.point),
                  describe(comparison.b.point), set_text(comparison.b.point));
  TextTable heads({{"", Align::left}, {"A"}, {"B"}, {"change"}});
  heads.add_row({"time", time_text(comparison.a.mean_time_us()), time_text(comparison.b.mean_time_us()),
                 time_change(comparison.time)});
  heads.add_row({"TFLOP/s", fmt::format("{:.1f}", a.tflops), fmt::format("{:.1f}", b.tflops), ""});
  heads.add_row({"busiest", a.busiest, b.busiest, ""});
  page += heads.text("  ") + '\n';
  for (const Group& group : kGroups) {
    TextTable table({{group.title, Align::left}, {"A"}, {"B"}, {"change"}});
    bool empty = true;
    for (const ComparedNumber& number : comparison.numbers) {
      if (number.group == group.name && number.effect >= group.least_effect) {
        table.add_row({number.name, group.show(number.a), group.show(number.b),
                       number.a == 0 ? "new" : fmt::format("{:+.1f} %", 100 * (number.b / number.a - 1))});
        empty = false;
      }
    }
    page += empty ? "" : table.text("  ") + '\n';
  }
  return fitted(
      page + "  " + sentence(comparison) + '\n' +
      fmt::format("  Times are means of {} runs whose CTAs start a few cycles apart; ± holds 19 in 20.\n",
                  kMembers));
}

nlohmann::ordered_json compare_json(const Comparison& comparison) {
  using Json = nlohmann::ordered_json;
  const auto side = [](const Ensemble& ensemble) {
    return Json{{"point", to_json(ensemble.point)},
                {"mean_time_us", ensemble.mean_time_us()},
                {"result", to_json(ensemble.itself())}};
  };
  Json json = {{"a", side(comparison.a)},
               {"b", side(comparison.b)},
               {"time_change", comparison.time.share},
               {"plus_minus", comparison.time.plus_minus},
               {"is_certain", comparison.time.is_certain()},
               {"differences", Json::array()},
               {"sentence", sentence(comparison)}};
  for (const ComparedNumber& number : comparison.numbers) {
    json["differences"].push_back({{"group", number.group},
                                   {"name", number.name},
                                   {"a", number.a},
                                   {"b", number.b},
                                   {"plus_minus", number.plus_minus}});
  }
  return json;
}

}  // namespace warpscope::experiments

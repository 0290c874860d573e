#include "experiments/page/ladder_charts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace warpscope::experiments {
namespace {

using Json = nlohmann::ordered_json;
using Named = std::vector<std::pair<std::string, double>>;

/// Six digits: a page of many settings must stay small.
Json rounded(double value) {
  return std::stod(fmt::format("{:.6g}", value));
}

double value_of(const Named& values, const std::string& name) {
  const auto found = std::ranges::find(values, name, &Named::value_type::first);
  return found == values.end() ? 0 : found->second;
}

/// The names with the largest shares in any step of any setting, and no more than a stack can show.
std::vector<std::string> largest(const Ladder& ladder, auto&& values_of) {
  std::map<std::string, double> most;  // share in the total of a point
  for (const LadderSetting& setting : ladder.settings) {
    for (const LadderPoint& point : setting.ladder) {
      double total = 0;
      for (const auto& [name, value] : values_of(point)) {
        total += value;
      }
      for (const auto& [name, value] : values_of(point)) {
        most[name] = std::max(most[name], total > 0 ? value / total : 0);
      }
    }
  }
  std::vector<std::pair<double, std::string>> order;
  for (const auto& [name, share] : most) {
    if (share > 0 && name != "selected") {
      order.emplace_back(-share, name);
    }
  }
  std::ranges::sort(order);
  constexpr std::size_t kMost = 5;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(kMost, order.size()); ++i) {
    names.push_back(order[i].second);
  }
  return names;
}

Chart waterfall(const LadderSetting& setting) {
  Chart chart("waterfall", "Time, step by step",
              {{"step", "step", Format::text},
               {"time_us", "time", Format::time_us},
               {"tflops", "speed", Format::tflops},
               {"speedup", "times as fast as before", Format::factor},
               {"plus_minus", "\u00b1", Format::factor},
               {"limiter", "limited by", Format::text}});
  chart.option("label", "step").option("value", "time_us").option("text", {"tflops", "speedup"});
  for (const LadderPoint& point : setting.ladder) {
    const bool done = point.error.empty();
    chart.add_row({point.label, done ? rounded(point.time_us) : Json(), done ? rounded(point.tflops) : Json(),
                   point.speedup ? rounded(*point.speedup) : Json(),
                   point.plus_minus ? rounded(*point.plus_minus) : Json(),
                   done ? point.limiter : point.error});
  }
  return chart;
}

/// A bar for each step, that stands out where it differs from the bar before.
Chart counted(const LadderSetting& setting, const char* title, const char* key, const char* label,
              Format format, double (*of)(const LadderPoint& point)) {
  Chart chart("bars", title,
              {{"step", "step", Format::text}, {key, label, format}, {"differs", "differs", Format::yes_no}});
  chart.option("label", "step").option("bars", {key}).option("changed", "differs").option("is_small", true);
  constexpr double kLeast = 0.01;
  double before = NAN;
  for (const LadderPoint& point : setting.ladder) {
    if (point.error.empty()) {
      const double now = of(point);
      chart.add_row({point.label, rounded(now), std::abs(now - before) > kLeast * std::max(now, before)});
      before = now;
    } else {
      chart.add_row({point.label, Json(), false});
    }
  }
  return chart;
}

/// A stack for each step: the named parts, then all others together.
Chart stacked(const LadderSetting& setting, const char* title, const std::vector<std::string>& names,
              Format format, auto&& values_of) {
  std::vector<ChartColumn> columns = {{"step", "step", Format::text}};
  Json keys = Json::array();
  for (const std::string& name : names) {
    columns.push_back({name, name, format});
    keys.push_back(name);
  }
  columns.push_back({"others", "others", format});
  keys.push_back("others");
  Chart chart("bars", title, std::move(columns));
  chart.option("label", "step").option("bars", std::move(keys));
  for (const LadderPoint& point : setting.ladder) {
    Json row = {point.label};
    double others = -value_of(values_of(point), "selected");
    for (const auto& [name, value] : values_of(point)) {
      others += std::ranges::find(names, name) == names.end() ? value : 0;
    }
    for (const std::string& name : names) {
      row.push_back(point.error.empty() ? rounded(value_of(values_of(point), name)) : Json());
    }
    row.push_back(point.error.empty() ? rounded(std::max(0.0, others)) : Json());
    chart.add_row(std::move(row));
  }
  return chart;
}

Chart alone(const LadderSetting& setting) {
  Chart chart("intervals", "Each change alone",
              {{"change", "change", Format::text},
               {"alone", "alone on FA1", Format::factor},
               {"alone_plus_minus", "\u00b1", Format::factor},
               {"taken", "last, on top of all others", Format::factor},
               {"taken_plus_minus", "\u00b1", Format::factor}});
  chart.option("label", "change").option("baseline", 1).option("least", LadderPoint::kLeastDifference);
  chart.option(
      "note",
      "How many times as fast a change makes the kernel: alone on FA1, and FA2 against FA2 without it.");
  chart.option(
      "marks",
      Json::array(
          {{{"value", "alone"}, {"error", "alone_plus_minus"}, {"label", "alone on FA1"}},
           {{"value", "taken"}, {"error", "taken_plus_minus"}, {"label", "FA2 against FA2 without it"}}}));
  std::vector<const LadderPoint*> changes;
  for (const auto* series : {&setting.alone_on_fa1, &setting.taken_from_fa2}) {
    for (const LadderPoint& point : *series) {
      if (std::ranges::find(changes, point.change, &LadderPoint::change) == changes.end()) {
        changes.push_back(&point);
      }
    }
  }
  for (const LadderPoint* change : changes) {
    Json row = {change->label};
    for (const auto* series : {&setting.alone_on_fa1, &setting.taken_from_fa2}) {
      const auto point = std::ranges::find(*series, change->change, &LadderPoint::change);
      const bool known = point != series->end() && point->error.empty() && point->speedup;
      row.push_back(known ? rounded(*point->speedup) : Json());
      row.push_back(known && point->plus_minus ? rounded(*point->plus_minus) : Json());
    }
    chart.add_row(std::move(row));
  }
  return chart;
}

Chart beyond(const LadderSetting& setting) {
  Chart chart("intervals", "Beyond FA2",
              {{"change", "change", Format::text},
               {"speedup", "times as fast as FA2", Format::factor},
               {"plus_minus", "\u00b1", Format::factor},
               {"time_us", "time", Format::time_us}});
  chart.option("label", "change").option("baseline", 1).option("least", LadderPoint::kLeastDifference);
  chart.option("note", "Other choices on top of FA2: tile shapes, numbers of warps, orders of CTAs.");
  chart.option(
      "marks",
      Json::array({{{"value", "speedup"}, {"error", "plus_minus"}, {"label", "times as fast as FA2"}}}));
  for (const LadderPoint& point : setting.beyond_fa2) {
    const bool known = point.error.empty() && point.speedup;
    chart.add_row({point.label, known ? rounded(*point.speedup) : Json(),
                   known && point.plus_minus ? rounded(*point.plus_minus) : Json(),
                   point.error.empty() ? rounded(point.time_us) : Json()});
  }
  return chart;
}

}  // namespace

LadderColumns ladder_columns(const Ladder& ladder) {
  return {largest(ladder, [](const LadderPoint& point) -> const Named& { return point.hbm_bytes; }),
          largest(ladder, [](const LadderPoint& point) -> const Named& { return point.stalls; })};
}

std::vector<Chart> ladder_charts(const LadderSetting& setting, const LadderColumns& columns) {
  const auto bar = [&](const char* title, const char* key, const char* label, Format format,
                       double (*of)(const LadderPoint& point)) {
    return counted(setting, title, key, label, format, of);
  };
  Chart tensor = bar("Tensor pipes at work", "tensor_share", "share of the time", Format::percent,
                     [](const LadderPoint& point) { return point.tensor_share; });
  tensor.option("maximum", 1);
  return {
      waterfall(setting),
      alone(setting),
      stacked(setting, "HBM bytes by tensor", columns.tensors, Format::bytes,
              [](const LadderPoint& point) -> const Named& { return point.hbm_bytes; }),
      stacked(setting, "Warps that wait, per issue", columns.stalls, Format::number,
              [](const LadderPoint& point) -> const Named& { return point.stalls; }),
      bar("Shared-memory wavefronts", "shared_wavefronts", "wavefronts", Format::count,
          [](const LadderPoint& point) { return point.shared_wavefronts; }),
      bar("Barriers", "barriers", "barriers", Format::count,
          [](const LadderPoint& point) { return point.barriers; }),
      bar("Non-matmul instructions per score", "non_matmul_per_score", "per score", Format::number,
          [](const LadderPoint& point) { return point.non_matmul_per_score; }),
      std::move(tensor),
      bar("Occupancy", "resident_warps", "warps per SM", Format::number,
          [](const LadderPoint& point) { return point.resident_warps; }),
      bar("Waves of CTAs", "waves", "waves", Format::number,
          [](const LadderPoint& point) { return point.waves; }),
      beyond(setting),
  };
}

}  // namespace warpscope::experiments

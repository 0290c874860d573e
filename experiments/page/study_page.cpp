#include "experiments/page/study_page.hpp"

#include <algorithm>

#include "experiments/page/ladder_page.hpp"

namespace warpscope::experiments {
namespace {

using Json = nlohmann::ordered_json;

std::vector<ChartColumn> columns(const std::string& x, const std::string& y) {
  return {{"panel", "panel", Format::text},
          {"series", "series", Format::text},
          {"x", x, Format::number},
          {"y", y, Format::number},
          {"is_reference", "reference", Format::yes_no}};
}

Chart lines(const LineChart& picture) {
  Chart chart("lines", picture.title, columns(picture.x_label, picture.y_label));
  chart.option("note", picture.subtitle)
      .option("x_label", picture.x_label)
      .option("y_label", picture.y_label);
  chart.option("linear_y", picture.linear_y);
  std::vector<Tick> ticks;
  for (const LinePanel& panel : picture.panels) {
    for (const Tick& tick : panel.x_ticks) {
      if (std::ranges::find(ticks, tick.first, &Tick::first) == ticks.end()) {
        ticks.push_back(tick);
      }
    }
    for (const LineSeries& series : panel.series) {
      for (const auto& [x, y] : series.points) {
        chart.add_row({panel.title, series.name, x, y, series.is_reference});
      }
    }
  }
  std::ranges::sort(ticks);
  Json x_ticks = Json::array();
  for (const auto& [x, label] : ticks) {
    x_ticks.push_back(Json::array({x, label}));
  }
  return chart.option("x_ticks", std::move(x_ticks));
}

/// Groups of bars become places on the x axis.
Chart lines(const BarChart& picture) {
  Chart chart("lines", picture.title, columns(picture.x_label, picture.y_label));
  chart.option("note", picture.subtitle)
      .option("x_label", picture.x_label)
      .option("y_label", picture.y_label);
  chart.option("linear_y", !picture.logarithmic).option("linear_x", true);
  Json x_ticks = Json::array();
  for (const BarPanel& panel : picture.panels) {
    for (std::size_t i = x_ticks.size(); i < panel.groups.size(); ++i) {
      x_ticks.push_back(Json::array({i, panel.groups[i]}));
    }
    for (const BarSeries& series : panel.series) {
      for (std::size_t i = 0; i < series.values.size(); ++i) {
        chart.add_row(
            {panel.title, series.name, i, series.values[i] ? Json(*series.values[i]) : Json(), false});
      }
    }
  }
  return chart.option("x_ticks", std::move(x_ticks));
}

}  // namespace

Page study_page(std::string_view name, const StudyOutput& output) {
  Page page;
  if (output.json.contains("rungs")) {
    page = ladder_page(read_ladder(output.json));
  } else {
    page.title = name;
    page.subtitle = "A study of the warpscope model";
    page.sentences = output.json.value("sentences", std::vector<std::string>());
  }
  PageSection charts{"charts", "Charts", {}, {}};
  for (const Picture& picture : output.pictures) {
    charts.charts.push_back(std::visit([](const auto& chart) { return lines(chart); }, picture.chart));
  }
  if (!charts.charts.empty()) {
    page.sections.push_back(std::move(charts));
  }
  PageSection report{"report", "Report", {}, {}};
  report.report = output.report;
  page.sections.push_back(std::move(report));
  return page;
}

}  // namespace warpscope::experiments

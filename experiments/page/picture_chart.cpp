#include "experiments/page/picture_chart.hpp"

#include <algorithm>

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

}  // namespace

Chart picture_chart(const LineChart& picture) {
  Chart chart("lines", picture.title, columns(picture.x_label, picture.y_label));
  chart.option("note", picture.subtitle)
      .option("x_label", picture.x_label)
      .option("y_label", picture.y_label);
  chart.option("linear_y", picture.linear_y).option("linear_x", picture.linear_x);
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

Chart picture_chart(const BarChart& picture) {
  Chart chart("lines", picture.title, columns(picture.x_label, picture.y_label));
  chart.option("note", picture.subtitle)
      .option("x_label", picture.x_label)
      .option("y_label", picture.y_label);
  chart.option("linear_y", !picture.logarithmic).option("linear_x", true);
  Json x_ticks = Json::array();
  Json colours = Json::object();
  for (const BarPanel& panel : picture.panels) {
    for (std::size_t i = x_ticks.size(); i < panel.groups.size(); ++i) {
      x_ticks.push_back(Json::array({i, panel.groups[i]}));
    }
    for (const BarSeries& series : panel.series) {
      colours[series.name] = {series.fill, series.border};
      for (std::size_t i = 0; i < series.values.size(); ++i) {
        chart.add_row(
            {panel.title, series.name, i, series.values[i] ? Json(*series.values[i]) : Json(), false});
      }
    }
  }
  return chart.option("x_ticks", std::move(x_ticks)).option("colours", std::move(colours));
}

}  // namespace warpscope::experiments

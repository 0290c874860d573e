#include "experiments/page/chart.hpp"

#include <array>

namespace warpscope::experiments {
namespace {

constexpr std::array kNames = {"text",   "number", "count", "percent", "change", "factor",
                               "tflops", "time",   "bytes", "cycles",  "yes_no"};

}  // namespace

Chart::Chart(const char* kind, std::string title, std::vector<ChartColumn> columns)
    : json_({{"kind", kind},
             {"title", std::move(title)},
             {"columns", nlohmann::ordered_json::array()},
             {"rows", nlohmann::ordered_json::array()}}) {
  for (ChartColumn& column : columns) {
    json_["columns"].push_back({{"key", std::move(column.key)},
                                {"label", std::move(column.label)},
                                {"format", kNames.at(static_cast<std::size_t>(column.format))}});
  }
}

void Chart::add_row(nlohmann::ordered_json row) {
  json_["rows"].push_back(std::move(row));
}

Chart& Chart::option(const char* key, nlohmann::ordered_json value) {
  json_[key] = std::move(value);
  return *this;
}

}  // namespace warpscope::experiments

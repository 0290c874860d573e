// What all studies do: points in, a report, tables and charts out.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "experiments/plot/bar_chart.hpp"
#include "experiments/plot/line_chart.hpp"
#include "experiments/point/point.hpp"
#include "experiments/store/point_result.hpp"
#include "experiments/study/studies.hpp"

namespace warpscope::experiments {

/// What came of a point.
struct StudyResult {
  std::string error;  ///< why there is no result; empty if there is one
  PointResult result;

  bool done() const { return error.empty(); }
};

struct Picture {
  std::string name;  ///< of its file, without the end
  std::variant<BarChart, LineChart> chart;
};

struct TextFile {
  std::string name;
  std::string text;
};

struct StudyOutput {
  std::string report;
  std::string csv;
  nlohmann::ordered_json json;
  std::vector<Picture> pictures;
  std::vector<TextFile> tables{};  ///< beside NAME.csv
};

/// The results are in the order of the points.
using MakeOutput = std::function<StudyOutput(std::span<const StudyResult> results)>;

/// Simulates `points`, equal ones once, and prints and writes what `make_output` makes of the results:
/// DIR/NAME.txt, .csv, .json and the pictures. What the store of an interrupted run knows is not simulated
/// again when `options.resume` says so.
void run_study(std::string_view name, const StudyOptions& options, std::span<const Point> points,
               const MakeOutput& make_output);

}  // namespace warpscope::experiments

#include "experiments/accuracy/stall_comparison.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "experiments/base/text_table.hpp"
#include "experiments/base/wrapped_text.hpp"
#include "experiments/report/units.hpp"
#include "model/metrics/result.hpp"

namespace warpscope::experiments {
namespace {

using Align = TextTable::Align;

constexpr const char* kSum = "sum";
/// A reason is marked where it is further off on average, in warps per issued instruction.
constexpr double kFarOff = 0.2;

std::string kernel_of(const Point& point) {
  const bool forward = point.problem.pass == kernels::Pass::forward;
  return forward ? point.kernel : fmt::format("{} {}", point.kernel, text(point.problem.pass));
}

/// The rows of a kernel and source, one for each reason and their sum; appended where there are none yet.
std::size_t first_row_of(const Observation& observation, std::vector<StallRow>& rows) {
  const auto found = std::ranges::find_if(rows, [&](const StallRow& row) {
    return row.kernel == kernel_of(observation.point) && row.source == observation.source;
  });
  const auto first = static_cast<std::size_t>(found - rows.begin());
  const bool is_new = found == rows.end();
  for (std::size_t i = 0; is_new && i <= metrics::kStallReasons; ++i) {
    const bool is_sum = i == metrics::kStallReasons;
    StallRow& row = rows.emplace_back();
    row.kernel = kernel_of(observation.point);
    row.source = observation.source;
    row.reason = is_sum ? kSum : metrics::name(static_cast<metrics::Stall>(i));
  }
  return first;
}

void compare(const Observation& observation, const Numbers& numbers, std::vector<StallRow>& rows) {
  const std::size_t first = first_row_of(observation, rows);
  const std::string point = label(observation.point);
  double measured_sum = 0;
  double model_sum = 0;
  for (std::size_t i = 0; i < metrics::kStallReasons; ++i) {
    const auto found = observation.numbers.find(metrics::metric(static_cast<metrics::Stall>(i)));
    if (found == observation.numbers.end()) {
      continue;  // not every file has every reason
    }
    const double measured = found->second;
    const double model = numbers.at(found->first);
    StallRow& row = rows[first + i];
    row.measured += measured;
    row.model += model;
    row.differences.add(model - measured, point);
    measured_sum += measured;
    model_sum += model;
  }
  StallRow& sum = rows[first + metrics::kStallReasons];
  sum.measured += measured_sum;
  sum.model += model_sum;
  sum.differences.add(model_sum / measured_sum - 1, point);
}

std::string difference_text(const StallRow& row, double difference) {
  return row.reason == kSum ? fmt::format("{:+.1f} %", 100 * difference) : fmt::format("{:+.2f}", difference);
}

}  // namespace

std::vector<StallRow> compare_stalls(const std::vector<Observation>& observations,
                                     const std::vector<Numbers>& numbers) {
  std::vector<StallRow> rows;
  for (std::size_t i = 0; i < observations.size(); ++i) {
    if (observations[i].numbers.contains(metrics::metric(metrics::Stall::selected)) && !numbers[i].empty()) {
      compare(observations[i], numbers[i], rows);
    }
  }
  for (StallRow& row : rows) {
    const auto points = static_cast<double>(std::max<std::size_t>(1, row.differences.count()));
    row.measured /= points;
    row.model /= points;
  }
  return rows;
}

std::string stall_table(const std::vector<StallRow>& rows) {
  constexpr std::size_t kRows = metrics::kStallReasons + 1;
  std::string text;
  for (std::size_t begin = 0; begin < rows.size(); begin += kRows) {
    TextTable table(
        {{"reason", Align::left}, {"measured"}, {"model"}, {"mean off"}, {"worst"}, {"at", Align::left}});
    for (std::size_t i = begin; i < begin + kRows; ++i) {
      const StallRow& row = rows[i];
      if (row.differences.count() == 0) {
        continue;
      }
      const bool is_sum = row.reason == kSum;
      const std::string mean = is_sum ? percent(row.differences.mean())
                                      : fmt::format("{:.2f}{}", row.differences.mean(),
                                                    row.differences.mean() > kFarOff ? " *" : "  ");
      table.add_row({row.reason, fmt::format("{:.2f}", row.measured), fmt::format("{:.2f}", row.model), mean,
                     difference_text(row, row.differences.worst()), row.differences.worst_point()});
    }
    text += fmt::format("{}{} against {}, {} points\n{}", begin == 0 ? "" : "\n", rows[begin].kernel,
                        rows[begin].source, rows[begin].differences.count(), table.text(""));
  }
  return text +
         fitted(fmt::format("\nWarps that wait for a reason per issued instruction. mean off: of the size of "
                            "differences; *: more than {}.\n",
                            kFarOff));
}

nlohmann::ordered_json stall_json(const std::vector<StallRow>& rows) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const StallRow& row : rows) {
    if (row.differences.count() == 0) {
      continue;
    }
    json.push_back({{"kernel", row.kernel},
                    {"against", row.source},
                    {"reason", row.reason},
                    {"points", row.differences.count()},
                    {"measured", row.measured},
                    {"model", row.model},
                    {"mean_difference", row.differences.mean()},
                    {"worst_difference", row.differences.worst()},
                    {"worst_point", row.differences.worst_point()}});
  }
  return json;
}

}  // namespace warpscope::experiments

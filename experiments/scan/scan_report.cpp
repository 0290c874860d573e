#include "experiments/scan/scan_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "experiments/base/text_table.hpp"
#include "experiments/base/wrapped_text.hpp"
#include "experiments/report/units.hpp"
#include "experiments/scan/scan_columns.hpp"

namespace warpscope::experiments {
namespace {

using Align = TextTable::Align;

/// Keys of GPUs are long: sm.xu.lanes is called lanes, the heading has the whole name.
std::string title(const ScanAxis& axis) {
  return axis.name.substr(axis.name.rfind('.') + 1);
}

const ScanPoint* first_done(const Scan& scan) {
  const auto found = std::ranges::find_if(scan.points, &ScanPoint::done);
  return found == scan.points.end() ? nullptr : &*found;
}

std::vector<std::string> number_cells(const ScanPoint& point, const ScanPoint* first) {
  if (!point.done()) {
    return {"-", "-", "-", "-", "-"};
  }
  constexpr double kBytesPerGb = 1e9;
  const PointResult& result = point.result;
  return {time_text(result.time_us), fmt::format("{:.1f}", result.tflops),
          fmt::format("{:.3g}", (result.read_bytes() + result.write_bytes()) / kBytesPerGb), result.limiter,
          fmt::format("{:.2f}", first->result.time_us / result.time_us)};
}

/// "kernel fa2, heads 4": the values of the first `axes` axes.
std::string values_text(const Scan& scan, const ScanPoint& point, std::size_t axes) {
  std::string text;
  for (std::size_t a = 0; a < axes; ++a) {
    text += fmt::format("{}{} {}", a == 0 ? "" : ", ", scan.axes[a].name, point.values[a]);
  }
  return text;
}

/// The points `begin` to `end` with the axes from `first_axis` on as columns.
std::string table_text(const Scan& scan, std::size_t begin, std::size_t end, std::size_t first_axis) {
  std::vector<TextTable::Column> columns;
  for (std::size_t a = first_axis; a < scan.axes.size(); ++a) {
    columns.push_back({title(scan.axes[a])});
  }
  columns.insert(columns.end(),
                 {{"time"}, {"TFLOP/s"}, {"HBM GB"}, {"limited by", Align::left}, {"speed-up"}});
  TextTable table(std::move(columns));
  for (std::size_t p = begin; p < end; ++p) {
    const ScanPoint& point = scan.points[p];
    std::vector<std::string> cells(point.values.begin() + static_cast<std::ptrdiff_t>(first_axis),
                                   point.values.end());
    std::ranges::move(number_cells(point, first_done(scan)), std::back_inserter(cells));
    table.add_row(std::move(cells));
  }
  return table.text("");
}

/// A table for each combination of the first `headings` axes.
std::string tables(const Scan& scan, std::size_t headings) {
  std::size_t rows = 1;
  for (std::size_t a = headings; a < scan.axes.size(); ++a) {
    rows *= scan.axes[a].values.size();
  }
  std::string text;
  for (std::size_t begin = 0; begin < scan.points.size(); begin += rows) {
    text += begin == 0 ? "" : "\n";
    text += headings == 0 ? "" : wrapped(values_text(scan, scan.points[begin], headings) + ':');
    text += table_text(scan, begin, begin + rows, headings);
  }
  return text;
}

bool fits(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (display_width(text.substr(0, end)) > kTerminalColumns) {
      return false;
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return true;
}

std::string heading(const Scan& scan) {
  std::vector<std::string> names;
  for (const ScanAxis& axis : scan.axes) {
    names.push_back(axis.name);
  }
  return wrapped(fmt::format("Scan of {}: {} points", fmt::join(names, " and "), scan.points.size())) +
         wrapped(fixed_text(scan), "  ") + '\n';
}

/// Each reason once, with the first point that has it.
std::string reasons(const Scan& scan) {
  std::vector<const ScanPoint*> failed;
  for (const ScanPoint& point : scan.points) {
    if (!point.done()) {
      failed.push_back(&point);
    }
  }
  std::string text;
  while (!failed.empty()) {
    const ScanPoint& first = *failed.front();
    const auto others = std::erase_if(failed, [&](const auto* p) { return p->error == first.error; }) - 1;
    text += text.empty() ? "\nNot simulated:\n" : "";
    text += wrapped(fmt::format("{}{}: {}", values_text(scan, first, scan.axes.size()),
                                others == 0 ? "" : fmt::format(" and {} more", others), first.error),
                    "  ");
  }
  return text;
}

}  // namespace

std::string scan_text(const Scan& scan) {
  std::string text = tables(scan, 0);
  for (std::size_t headings = 1; headings < scan.axes.size() && !fits(text); ++headings) {
    text = tables(scan, headings);
  }
  return heading(scan) + text + reasons(scan) + "\nSpeed-up: over the first row that has a time.\n";
}

}  // namespace warpscope::experiments

#include "experiments/commands/scan_flags.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "experiments/base/files.hpp"
#include "experiments/base/named_files.hpp"
#include "experiments/base/output.hpp"
#include "experiments/base/usage_error.hpp"
#include "experiments/commands/file_flag.hpp"
#include "experiments/page/scan_page.hpp"
#include "experiments/plot/svg_file.hpp"
#include "experiments/scan/scan_report.hpp"
#include "experiments/workers/worker_pool.hpp"

namespace warpscope::experiments {
namespace {

/// Reads the point that a combination of values is.
ReadPoint reader(const ScanFlags::Request& request) {
  const ModelChoice model = request.model.read();
  return [&request, model](const std::vector<std::string>& values) {
    return request.problem.read(model, [&](std::string_view field) -> std::optional<std::string> {
      std::string changes;
      for (std::size_t a = 0; a < values.size(); ++a) {
        const ScanAxis& axis = request.axes[a];
        if (axis.field == field) {
          return values[a];
        }
        changes += axis.is_gpu_key() ? fmt::format("{}={} ", axis.field, values[a]) : "";
      }
      return field == "set" && !changes.empty() ? std::optional(changes) : std::nullopt;
    });
  };
}

bool varies(const std::vector<ScanAxis>& axes, std::string_view field) {
  return std::ranges::find(axes, field, &ScanAxis::field) != axes.end();
}

}  // namespace

void ScanFlags::add_to(CLI::App& app) {
  app.add_option("--scan", scans_,
                 "run once for each value, as heads=1,2,4 or sm.xu.lanes=4:32:x2; may be given twice")
      ->type_name("KEY=VALUES")
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all();
  add_file_flag(app, "--csv", csv_, "of a scan: write the points to FILE, for `plot`; -: to standard output");
  add_file_flag(app, "--chart", chart_, "of a scan: draw TFLOP/s to FILE, an .svg");
}

std::string ScanFlags::first_given() const {
  return !scans_.empty() ? "--scan" : !csv_.empty() ? "--csv" : !chart_.empty() ? "--chart" : "";
}

std::vector<ScanAxis> ScanFlags::axes(const ProblemFlags& problem) const {
  constexpr std::size_t kMostScans = 2;
  if (scans_.size() > kMostScans) {
    throw UsageError(fmt::format("--scan: given {} times; legal is once or twice", scans_.size()));
  }
  std::vector<ScanAxis> axes;
  for (const std::string& scan : scans_) {
    axes.push_back(problem.read_axis(scan));
    if (std::ranges::count(axes, axes.back().field, &ScanAxis::field) > 1) {
      throw UsageError(fmt::format("--scan {}: given twice; legal are two different keys", axes.back().name));
    }
  }
  // Behind the others, so that values of one flag stand side by side.
  std::ranges::move(problem.axes(), std::back_inserter(axes));
  return axes;
}

Status ScanFlags::run(const Request& request) const {
  if (!varies(request.axes, "gpu")) {
    request.model.require_gpu();
  }
  const std::array outputs = {NamedFile{"--json", request.json}, NamedFile{"--report", request.report},
                              NamedFile{"--csv", csv_}, NamedFile{"--chart", chart_}};
  check_apart(request.model.files(), outputs);
  if (request.json == "-" && csv_ == "-") {
    throw UsageError("--csv and --json: only one of them can go to standard output");
  }
  if (!chart_.empty()) {
    check_chart(request.axes);
    check_svg_file("--chart", chart_);
  }
  for (const NamedFile& output : outputs) {
    if (names_file(output.path)) {
      check_writable(output.path);
    }
  }
  const Scan scan = run_scan(request.axes, reader(request), request.workers.read(default_workers()));
  const std::string text = scan_text(scan);
  const auto json = [&] { return scan_json(scan).dump(2) + '\n'; };
  if (names_file(request.json)) {
    write_file(request.json, json());
  }
  if (names_file(request.report)) {
    write_file(request.report, names_page(request.report) ? html(scan_page(scan)) : text);
  }
  if (names_file(csv_)) {
    write_file(csv_, scan_csv(scan));
  }
  if (!chart_.empty()) {
    write_svg_file(scan_chart(scan), chart_);
  }
  print_output(request.json == "-" ? json() : csv_ == "-" ? scan_csv(scan) : text);
  if (scan.failed() == 0) {
    return Status::done;
  }
  print_error(fmt::format("{} of {} points could not be simulated; the report says why", scan.failed(),
                          scan.points.size()));
  return Status::points_failed;
}

}  // namespace warpscope::experiments

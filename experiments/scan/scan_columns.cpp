#include "experiments/scan/scan_columns.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace warpscope::experiments {
namespace {

ScanCells cells(const Point& point) {
  const kernels::Problem& problem = point.problem;
  const bool is_attention = problem.type == kernels::ProblemType::attention;
  const auto of_attention = [&](const std::string& cell) { return is_attention ? cell : std::string(); };
  const auto if_any = [](std::int64_t size) { return size > 0 ? std::to_string(size) : std::string(); };
  const bool has_batch = problem.type != kernels::ProblemType::rows;
  return {point.model.gpu,
          point.kernel,
          text(problem.pass),
          has_batch ? std::to_string(problem.batch) : "",
          of_attention(std::to_string(problem.heads)),
          of_attention(std::to_string(problem.heads_kv)),
          of_attention(std::to_string(problem.seqlen_q)),
          of_attention(std::to_string(problem.seqlen_k)),
          of_attention(std::to_string(problem.head_dim)),
          of_attention(problem.causal ? "1" : "0"),
          text(problem.dtype),
          problem.num_splits == 1 ? "" : splits_text(problem),
          problem.window.is_given() ? fmt::format("{};{}", problem.window.left, problem.window.right) : "",
          problem.softcap == 0 ? "" : fmt::format("{}", problem.softcap),
          problem.alibi ? "1" : "",
          fmt::format("{}", fmt::join(problem.seqlens, ";")),
          problem.dropout == 0 ? "" : fmt::format("{}", problem.dropout),
          if_any(problem.page_size),
          problem.deterministic ? "1" : "",
          problem.heads_first ? "1" : "",
          if_any(problem.matrix.rows),
          if_any(problem.matrix.cols),
          if_any(problem.matrix.depth),
          point.model.options.warm_l2 ? "warm" : "cold",
          fmt::format("{}", fmt::join(point.model.overrides, " "))};
}

/// The changes of the GPU that no axis makes.
std::vector<std::string> fixed_changes(const Scan& scan, const Point& point) {
  std::vector<std::string> changes = point.model.overrides;
  // Those of the axes come last.
  const auto of_axes = std::ranges::count_if(scan.axes, &ScanAxis::is_gpu_key);
  changes.resize(changes.size() - static_cast<std::size_t>(of_axes));
  return changes;
}

}  // namespace

ScanCells scan_cells(const Scan& scan, const ScanPoint& point) {
  if (point.point) {
    return cells(*point.point);
  }
  ScanCells result;
  for (std::size_t a = 0; a < scan.axes.size(); ++a) {
    for (std::size_t c = 0; c < kScanColumns.size(); ++c) {
      result[c] = kScanColumns[c] == scan.axes[a].field ? point.values[a] : result[c];
    }
  }
  return result;
}

std::string fixed_text(const Scan& scan) {
  std::vector<ScanCells> rows;
  std::vector<std::string> changes;
  for (const ScanPoint& point : scan.points) {
    if (point.point) {
      rows.push_back(cells(*point.point));
      changes = fixed_changes(scan, *point.point);
    }
  }
  std::string text;
  for (std::size_t c = 0; c + 1 < kScanColumns.size(); ++c) {
    const auto is_first = [&](const ScanCells& row) { return row[c] == rows.front()[c]; };
    const bool varies = std::ranges::find(scan.axes, kScanColumns[c], &ScanAxis::field) != scan.axes.end();
    if (!varies && std::ranges::all_of(rows, is_first) && !rows.front()[c].empty()) {
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", kScanColumns[c], rows.front()[c]);
    }
  }
  return changes.empty() ? text : fmt::format("{}, changed: {}", text, fmt::join(changes, " "));
}

}  // namespace warpscope::experiments

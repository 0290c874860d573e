#include "experiments/sweep/points_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <functional>

#include "experiments/base/printable.hpp"
#include "experiments/base/usage_error.hpp"
#include "experiments/point/point_reader.hpp"
#include "experiments/sweep/model_columns.hpp"
#include "model/base/nearest_name.hpp"

namespace warpscope::experiments {
namespace {

/// A column with a second name that data files use.
struct OtherName {
  std::string_view field;
  std::string_view other;
};

constexpr std::array kOtherNames = {OtherName{"kernel", "impl"}, OtherName{"seqlen_q", "seqlen"}};
constexpr std::array<std::string_view, 16> kOptional = {
    "gpu",   "heads_kv", "seqlen_k", "causal",    "dtype",         "num_splits",  "window", "softcap",
    "alibi", "seqlens",  "dropout",  "page_size", "deterministic", "heads_first", "l2",     "set"};
/// With these, rows need not be attention: what a row lacks is the error of the row.
constexpr std::array<std::string_view, 3> kMatrixColumns = {"rows", "cols", "depth"};
constexpr std::array<std::string_view, 6> kNeeded = {"kernel", "pass",     "batch",
                                                     "heads",  "seqlen_q", "head_dim"};

/// The field that a column of this name was probably meant to be: a column that nobody reads changes nothing,
/// and nobody would notice.
std::string_view misspelt_field(const std::string& column) {
  constexpr std::size_t kNear = 2;
  std::vector<std::string_view> fields(kOptional.begin(), kOptional.end());
  fields.insert(fields.end(), kNeeded.begin(), kNeeded.end());
  for (const OtherName& name : kOtherNames) {
    fields.push_back(name.other);
  }
  const std::string_view nearest = base::nearest_name(column, fields, std::identity());
  const std::size_t distance = base::edit_distance(column, nearest);
  // A short name is near to many words: `note` is not a misspelt `l2`.
  return distance <= std::min(kNear, nearest.size() / 3) && column != nearest ? nearest : std::string_view();
}

std::string_view other_name(std::string_view field) {
  for (const OtherName& name : kOtherNames) {
    if (name.field == field) {
      return name.other;
    }
  }
  return {};
}

}  // namespace

PointsFile::PointsFile(const std::string& file, const ModelChoice& defaults)
    : table_(read_csv(file)), defaults_(defaults) {
  check_columns();
}

std::size_t PointsFile::column_of(std::string_view field) const {
  const std::size_t column = table_.column(field);
  const std::string_view other = other_name(field);
  return column != CsvTable::kNoColumn || other.empty() ? column : table_.column(other);
}

void PointsFile::check_columns() const {
  const auto fail = [&](const std::string& message) {
    throw UsageError(fmt::format("{}:{}: {}", table_.file, table_.header.line, message));
  };
  for (const std::string_view added : kModelColumns) {
    if (table_.column(added) != CsvTable::kNoColumn) {
      fail(fmt::format("column {} is one that the sweep adds; remove it", in_quotes(added)));
    }
  }
  for (const OtherName& name : kOtherNames) {
    if (table_.column(name.field) != CsvTable::kNoColumn &&
        table_.column(name.other) != CsvTable::kNoColumn) {
      fail(fmt::format("columns {} and {} mean the same; keep one", in_quotes(name.field),
                       in_quotes(name.other)));
    }
  }
  for (const std::string& column : table_.header.fields) {
    if (const std::string_view field = misspelt_field(column); !field.empty()) {
      fail(fmt::format("column {} is unknown and looks like {}; give it that name, or one less alike",
                       in_quotes(column), field));
    }
  }
  const bool has_matrices = std::ranges::any_of(
      kMatrixColumns, [&](std::string_view field) { return table_.column(field) != CsvTable::kNoColumn; });
  for (const std::string_view field : kNeeded) {
    if (column_of(field) == CsvTable::kNoColumn && (!has_matrices || field == "kernel")) {
      const std::string_view other = other_name(field);
      fail(fmt::format("column {}{} is missing; needed are {}", in_quotes(field),
                       other.empty() ? "" : fmt::format(" (or {})", in_quotes(other)),
                       fmt::join(kNeeded, ", ")));
    }
  }
  if (defaults_.gpu.empty() && table_.column("gpu") == CsvTable::kNoColumn) {
    fail("column 'gpu' is missing; give it, or --gpu for all rows");
  }
}

Point PointsFile::point(std::size_t row) const {
  const auto field_text = [&](std::string_view field) -> std::optional<std::string> {
    const std::size_t column = column_of(field);
    if (column == CsvTable::kNoColumn) {
      return std::nullopt;
    }
    const std::string_view text = trimmed(table_.rows[row].fields[column]);
    return text.empty() ? std::nullopt : std::optional<std::string>(text);
  };
  const auto field_name = [&](std::string_view field) {
    const std::size_t column = column_of(field);
    return column == CsvTable::kNoColumn ? std::string(field) : table_.header.fields[column];
  };
  return read_point(field_text, field_name, defaults_);
}

std::vector<std::pair<std::string, std::string>> PointsFile::fields(std::size_t row) const {
  std::vector<std::pair<std::string, std::string>> result;
  for (std::size_t column = 0; column < table_.header.fields.size(); ++column) {
    result.emplace_back(table_.header.fields[column], table_.rows[row].fields[column]);
  }
  return result;
}

}  // namespace warpscope::experiments

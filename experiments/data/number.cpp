#include "experiments/data/number.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <string_view>

#include "experiments/base/printable.hpp"
#include "experiments/base/usage_error.hpp"

namespace warpscope::experiments {
namespace {

template <typename T>
T parse(const CsvTable& table, const CsvRecord& row, const std::string& column, const char* legal) {
  const std::string text = cell(table, row, column);
  T value{};
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || rest != end) {
    throw UsageError(
        fmt::format("{}:{}: {} {}: legal is {}", table.file, row.line, column, in_quotes(text), legal));
  }
  return value;
}

}  // namespace

std::string cell(const CsvTable& table, const CsvRecord& row, const std::string& column) {
  const std::size_t index = table.column(column);
  if (index == CsvTable::kNoColumn) {
    throw UsageError(
        fmt::format("{}:{}: column {} is missing", table.file, table.header.line, in_quotes(column)));
  }
  return std::string(trimmed(row.fields[index]));
}

double number(const CsvTable& table, const CsvRecord& row, const std::string& column) {
  return parse<double>(table, row, column, "a number");
}

int integer(const CsvTable& table, const CsvRecord& row, const std::string& column) {
  return parse<int>(table, row, column, "an integer");
}

std::optional<double> finite_number(std::string_view text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && rest == end && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

}  // namespace warpscope::experiments

// Numbers in tables of text.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "experiments/csv/csv.hpp"

namespace warpscope::experiments {

/// The cell of a row under a column, without blanks around it. Throws UsageError if there is no such column.
std::string cell(const CsvTable& table, const CsvRecord& row, const std::string& column);
/// The same as a number. Throws UsageError `file:line: column 'value': ...` if it is none.
double number(const CsvTable& table, const CsvRecord& row, const std::string& column);
int integer(const CsvTable& table, const CsvRecord& row, const std::string& column);

/// The whole of `text` as a number, or nothing where it is none, or not a finite one.
std::optional<double> finite_number(std::string_view text);

}  // namespace warpscope::experiments

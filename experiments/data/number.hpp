// Numbers in reference data.
#pragma once

#include <string>

#include "experiments/csv/csv.hpp"

namespace warpscope::experiments {

/// The cell of a row under a column, without blanks around it. Throws UsageError if there is no such column.
std::string cell(const CsvTable& table, const CsvRecord& row, const std::string& column);
/// The same as a number. Throws UsageError `file:line: column 'value': ...` if it is none.
double number(const CsvTable& table, const CsvRecord& row, const std::string& column);
int integer(const CsvTable& table, const CsvRecord& row, const std::string& column);

}  // namespace warpscope::experiments

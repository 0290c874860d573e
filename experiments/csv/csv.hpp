// Comma-separated values after RFC 4180.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace warpscope::experiments {

/// One record: its fields without quotes, and its text as the file has it, without the line end.
struct CsvRecord {
  std::size_t line = 0;  ///< of the file, from 1, where the record begins
  std::vector<std::string> fields;
  std::string text;
};

struct CsvTable {
  std::string file;
  CsvRecord header;
  std::vector<CsvRecord> rows;  ///< each with as many fields as the header

  static constexpr std::size_t kNoColumn = static_cast<std::size_t>(-1);
  /// Index of the column of that name, or kNoColumn.
  std::size_t column(std::string_view name) const;
};

/// Reads a table whose first record is the header. Line ends LF and CRLF, a byte order mark, a missing last
/// line end and blank lines are fine. Throws UsageError "file:line: ..." where the text is empty, a quote is
/// out of place or never closed, a record has more or fewer fields than the header, or a column has no name
/// or the name of another.
CsvTable parse_csv(std::string_view text, const std::string& file);
CsvTable read_csv(const std::string& file);

/// `text` as a field: in quotes where it needs them.
std::string csv_field(std::string_view text);

}  // namespace warpscope::experiments

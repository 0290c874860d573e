// Tables for the terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace warpscope::experiments {

/// Columns of a terminal that UTF-8 `text` takes; every code point counts as one.
std::size_t display_width(std::string_view text);
/// `text` filled up to `width` columns, at its left end or its right end.
std::string padded(std::string_view text, std::size_t width, bool to_the_right);

/// Rows of cells, each column as wide as its widest cell; sentences in the last one are broken into lines
/// where they would not fit the terminal.
class TextTable {
 public:
  enum class Align : bool { left, right };

  struct Column {
    std::string title;
    Align align = Align::right;
  };

  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

  void add_row(std::vector<std::string> cells);
  /// A line between the rows before and after it.
  void add_rule() { rows_.emplace_back(); }
  /// The table with its titles, each line behind `indent`.
  std::string text(std::string_view indent = "  ") const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;  ///< an empty row is a rule
};

}  // namespace warpscope::experiments

#include "experiments/csv/csv.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "experiments/base/files.hpp"
#include "experiments/base/printable.hpp"
#include "experiments/base/usage_error.hpp"

namespace warpscope::experiments {
namespace {

/// Takes records off the front of a text.
class Reader {
 public:
  Reader(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  bool at_end() const { return position_ == text_.size(); }

  CsvRecord record() {
    CsvRecord record;
    record.line = line_;
    const std::size_t begin = position_;
    bool more = true;
    while (more) {
      record.fields.push_back(peek() == '"' ? quoted_field(record) : bare_field());
      more = peek() == ',';
      position_ += more ? 1 : 0;
    }
    record.text = text_.substr(begin, position_ - begin);
    skip_line_end();
    return record;
  }

  [[noreturn]] void fail(std::size_t line, const std::string& message) const {
    throw UsageError(fmt::format("{}:{}: {}", file_, line, message));
  }

 private:
  // '\n' stands for the end of the text too. CR counts as a line end only before LF or at the very end.
  char peek() const {
    if (at_end()) {
      return '\n';
    }
    const bool line_end =
        text_[position_] == '\r' && (position_ + 1 == text_.size() || text_[position_ + 1] == '\n');
    return line_end ? '\n' : text_[position_];
  }

  void skip_line_end() {
    if (!at_end() && text_[position_] == '\r') {
      ++position_;
    }
    if (!at_end()) {
      ++position_;
    }
    ++line_;
  }

  std::string bare_field() {
    const std::size_t begin = position_;
    for (char next = peek(); next != ',' && next != '\n'; next = peek()) {
      if (next == '"') {
        fail(line_,
             fmt::format("quote inside the unquoted field {}; put the whole field in quotes and double "
                         "the quotes in it",
                         in_quotes(text_.substr(begin, position_ - begin + 1))));
      }
      ++position_;
    }
    return std::string(text_.substr(begin, position_ - begin));
  }

  std::string quoted_field(const CsvRecord& record) {
    const std::size_t opened = line_;
    std::string field;
    ++position_;
    while (true) {
      if (at_end()) {
        fail(opened, fmt::format("the quote that opens field {} is never closed", record.fields.size() + 1));
      }
      const char symbol = text_[position_++];
      if (symbol == '"' && (at_end() || text_[position_] != '"')) {
        break;
      }
      position_ += symbol == '"' ? 1 : 0;
      line_ += symbol == '\n' ? 1 : 0;
      field += symbol;
    }
    if (const char next = peek(); next != ',' && next != '\n') {
      fail(line_,
           fmt::format("{} follows the closing quote of field {}; a comma or the end of the line is legal",
                       in_quotes({&next, 1}), record.fields.size() + 1));
    }
    return field;
  }

  std::string_view text_;
  const std::string& file_;
  std::size_t position_ = 0;
  std::size_t line_ = 1;
};

bool is_blank(const CsvRecord& record) {
  return record.fields.size() == 1 && trimmed(record.text).empty();
}

void check_header(const Reader& reader, CsvRecord& header) {
  for (std::size_t c = 0; c < header.fields.size(); ++c) {
    header.fields[c] = std::string(trimmed(header.fields[c]));
    const std::string& name = header.fields[c];
    if (name.empty()) {
      reader.fail(header.line, fmt::format("column {} has no name", c + 1));
    }
    if (std::find(header.fields.begin(), header.fields.begin() + static_cast<std::ptrdiff_t>(c), name) !=
        header.fields.begin() + static_cast<std::ptrdiff_t>(c)) {
      reader.fail(header.line,
                  fmt::format("column {} appears twice; each name is legal once", in_quotes(name)));
    }
  }
}

}  // namespace

std::size_t CsvTable::column(std::string_view name) const {
  const auto found = std::ranges::find(header.fields, name);
  return found == header.fields.end() ? kNoColumn : static_cast<std::size_t>(found - header.fields.begin());
}

CsvTable parse_csv(std::string_view text, const std::string& file) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text.starts_with(kByteOrderMark)) {
    text.remove_prefix(kByteOrderMark.size());
  }
  Reader reader(text, file);
  CsvTable table;
  table.file = file;
  bool has_header = false;
  while (!reader.at_end()) {
    CsvRecord record = reader.record();
    if (is_blank(record)) {
      continue;
    }
    if (!has_header) {
      check_header(reader, record);
      table.header = std::move(record);
      has_header = true;
    } else if (record.fields.size() != table.header.fields.size()) {
      reader.fail(record.line, fmt::format("{} fields where the header has {}", record.fields.size(),
                                           table.header.fields.size()));
    } else {
      table.rows.push_back(std::move(record));
    }
  }
  if (!has_header) {
    reader.fail(1, "the file is empty; a header line with the names of the columns is needed");
  }
  return table;
}

CsvTable read_csv(const std::string& file) {
  return parse_csv(read_file(file), file);
}

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
    return std::string(text);
  }
  std::string field = "\"";
  for (const char symbol : text) {
    field += symbol;
    if (symbol == '"') {
      field += '"';
    }
  }
  return field + '"';
}

}  // namespace warpscope::experiments

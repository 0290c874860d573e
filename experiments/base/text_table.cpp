#include "experiments/base/text_table.hpp"

#include <algorithm>
#include <stdexcept>

#include "experiments/base/wrapped_text.hpp"

namespace warpscope::experiments {
namespace {

constexpr std::string_view kGap = "  ";

}  // namespace

std::size_t display_width(std::string_view text) {
  // Bytes 10xxxxxx continue a code point.
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char symbol) { return (static_cast<unsigned char>(symbol) & 0xc0) != 0x80; }));
}

std::string padded(std::string_view text, std::size_t width, bool to_the_right) {
  const std::size_t used = display_width(text);
  const std::string fill(width > used ? width - used : 0, ' ');
  return to_the_right ? fill + std::string(text) : std::string(text) + fill;
}

void TextTable::add_row(std::vector<std::string> cells) {
  if (cells.size() != columns_.size()) {
    throw std::logic_error("a table row has " + std::to_string(cells.size()) + " cells, not " +
                           std::to_string(columns_.size()));
  }
  rows_.push_back(std::move(cells));
}

std::string TextTable::text(std::string_view indent) const {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    widths.push_back(display_width(columns_[c].title));
    for (const auto& row : rows_) {
      widths[c] = row.empty() ? widths[c] : std::max(widths[c], display_width(row[c]));
    }
  }
  const std::size_t last = columns_.size() - 1;
  std::size_t last_begin = indent.size() + kGap.size() * last;
  for (std::size_t c = 0; c < last; ++c) {
    last_begin += widths[c];
  }
  // A column of sentences has lines of its own; numbers and columns without room for words stay as they are.
  const bool wraps = columns_[last].align == Align::left && last_begin <= kTerminalColumns / 2 &&
                     last_begin + widths[last] > kTerminalColumns;
  widths[last] = wraps ? kTerminalColumns - last_begin : widths[last];
  const auto line = [&](const auto& cell_text) {
    std::string result(indent);
    for (std::size_t c = 0; c < last; ++c) {
      result += padded(cell_text(c), widths[c], columns_[c].align == Align::right);
      result += kGap;
    }
    if (wraps) {
      return wrapped(cell_text(last), result);
    }
    result += padded(cell_text(last), widths[last], columns_[last].align == Align::right);
    result.erase(result.find_last_not_of(' ') + 1);
    return result + '\n';
  };
  std::string result = line([&](std::size_t c) { return columns_[c].title; });
  for (const auto& row : rows_) {
    if (row.empty()) {
      std::size_t total = kGap.size() * (widths.size() - 1);
      for (const std::size_t width : widths) {
        total += width;
      }
      result += std::string(indent) + std::string(total, '-') + '\n';
    } else {
      result += line([&](std::size_t c) { return row[c]; });
    }
  }
  return result;
}

}  // namespace warpscope::experiments

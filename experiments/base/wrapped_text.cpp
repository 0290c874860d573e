#include "experiments/base/wrapped_text.hpp"

#include <algorithm>

#include "experiments/base/text_table.hpp"

namespace warpscope::experiments {
namespace {

/// One paragraph behind `taken` columns of the first line; all others begin with `indent` blanks.
std::string wrapped_paragraph(std::string_view text, std::size_t taken, std::size_t indent,
                              std::size_t columns) {
  std::string result;
  std::size_t begin = taken;
  std::size_t used = taken;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t width = display_width(word);
    if (used > begin && used + 1 + width > columns) {
      result += '\n' + std::string(indent, ' ');
      used = begin = indent;
    } else if (used > begin) {
      result += ' ';
      ++used;
    }
    result += word;
    used += width;
  }
  return result + '\n';
}

}  // namespace

std::string wrapped(std::string_view text, std::string_view first, std::size_t columns) {
  const std::size_t indent = display_width(first);
  std::string result(first);
  for (;;) {
    const std::size_t end = text.find('\n');
    result += wrapped_paragraph(text.substr(0, end), indent, indent, columns);
    if (end == std::string_view::npos || end + 1 == text.size()) {
      return result;
    }
    text.remove_prefix(end + 1);
    result += std::string(text.starts_with('\n') ? 0 : indent, ' ');
  }
}

std::string fitted(std::string_view page, std::size_t columns) {
  std::string result;
  while (!page.empty()) {
    const std::size_t end = std::min(page.find('\n'), page.size());
    const std::string_view line = page.substr(0, end);
    page.remove_prefix(std::min(end + 1, page.size()));
    if (display_width(line) <= columns) {
      result += std::string(line) + '\n';
      continue;
    }
    const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
    result += std::string(indent, ' ');
    result += wrapped_paragraph(line.substr(indent), indent, indent + 2, columns);
  }
  return result;
}

}  // namespace warpscope::experiments

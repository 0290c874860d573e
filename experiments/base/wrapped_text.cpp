#include "experiments/base/wrapped_text.hpp"

#include <algorithm>

#include "experiments/base/text_table.hpp"

namespace warpscope::experiments {
namespace {

/// One paragraph; `indent` columns stand at the left of each line but the first, where they are taken.
std::string wrapped_paragraph(std::string_view text, std::size_t indent, std::size_t columns) {
  std::string result;
  std::size_t used = indent;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t width = display_width(word);
    if (used > indent && used + 1 + width > columns) {
      result += '\n' + std::string(indent, ' ');
      used = indent;
    } else if (used > indent) {
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
    result += wrapped_paragraph(text.substr(0, end), indent, columns);
    if (end == std::string_view::npos || end + 1 == text.size()) {
      return result;
    }
    text.remove_prefix(end + 1);
    result += std::string(text.starts_with('\n') ? 0 : indent, ' ');
  }
}

}  // namespace warpscope::experiments

#include "model/trace/text_lines.hpp"

#include <fmt/format.h>

namespace warpscope::trace {

bool TextLines::next() {
  while (fetch()) {
    if (!cursor().at_end()) {
      return true;
    }
  }
  return false;
}

bool TextLines::fetch() {
  constexpr std::size_t kLongestLine = std::size_t{4} << 20;
  line_.clear();
  std::streambuf* const buffer = input_.rdbuf();
  constexpr int kEnd = std::char_traits<char>::eof();
  int c = buffer->sbumpc();
  if (c == kEnd) {
    return false;
  }
  ++number_;
  for (; c != kEnd && c != '\n'; c = buffer->sbumpc()) {
    if (line_.size() == kLongestLine) {
      cursor().fail("line", line_, fmt::format("at most {} characters", kLongestLine));
    }
    line_ += static_cast<char>(c);
  }
  return true;
}

}  // namespace warpscope::trace

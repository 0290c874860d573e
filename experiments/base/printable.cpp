#include "experiments/base/printable.hpp"

#include <fmt/format.h>

namespace warpscope::experiments {

std::string in_quotes(std::string_view text) {
  constexpr std::size_t kLongest = 60;
  std::string result = "'";
  for (const char symbol : text.substr(0, kLongest)) {
    const auto code = static_cast<unsigned char>(symbol);
    if (code < 0x20 || code == 0x7f) {
      result += fmt::format("\\x{:02x}", code);
    } else {
      result += symbol;
    }
  }
  return result + (text.size() > kLongest ? "...'" : "'");
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) {
    return {};
  }
  return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

std::string one_line(std::string_view text) {
  std::string result;
  for (const char symbol : trimmed(text)) {
    if (symbol == '\n') {
      result += "; ";
    } else if (symbol != '\r') {
      result += symbol;
    }
  }
  return result;
}

}  // namespace warpscope::experiments

#include "experiments/base/printable.hpp"

#include <fmt/format.h>

#include <boost/locale/utf.hpp>

namespace warpscope::experiments {
namespace {

bool is_control(char symbol) {
  const auto code = static_cast<unsigned char>(symbol);
  return code < 0x20 || code == 0x7f;
}

}  // namespace

std::string without_controls(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    // U+0080 to U+009F are control characters too: some terminals take U+009B for ESC [.
    const bool high = text[i] == '\xc2' && i + 1 < text.size() && (text[i + 1] & 0xe0) == 0x80;
    if (high || (is_control(text[i]) && text[i] != '\n')) {
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(high ? text[++i] : text[i]));
    } else {
      result += text[i];
    }
  }
  return result;
}

bool is_utf8(std::string_view text) {
  using Utf8 = boost::locale::utf::utf_traits<char>;
  for (const char* at = text.data(); at != text.data() + text.size();) {
    if (!boost::locale::utf::is_valid_codepoint(Utf8::decode(at, text.data() + text.size()))) {
      return false;
    }
  }
  return true;
}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t kLongest = 60;
  std::string result = "'";
  for (const char symbol : text.substr(0, kLongest)) {
    if (is_control(symbol)) {
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(symbol));
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

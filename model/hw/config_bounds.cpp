#include "model/hw/config_bounds.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace warpscope::hw {
namespace {

/// The deepest legal key is sm.tensor.hmma_16816.latency_cycles.
constexpr int most_dots = 16;
constexpr int most_brackets = 16;

/// Goes over what strings and comments contain.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  bool at_end() const { return at_ >= text_.size(); }
  int line() const { return line_; }
  /// The next character outside of strings and comments.
  char next() {
    const char c = take();
    if (c == '#') {
      skip_line();
      return ' ';
    }
    if (c == '"' || c == '\'') {
      skip_string(c);
    }
    return c;
  }

 private:
  char take() {
    const char c = text_[at_++];
    line_ += c == '\n' ? 1 : 0;
    return c;
  }
  void skip_line() { at_ = std::min(text_.find('\n', at_), text_.size()); }
  void skip_string(char quote) {
    const std::string three(3, quote);
    const bool many_lines = text_.substr(at_ - 1).starts_with(three);
    at_ += many_lines ? 2 : 0;
    while (!at_end()) {
      if (!many_lines && text_[at_] == '\n') {
        return;  // without an end, which the parser will find
      }
      const char c = take();
      if (c == '\\' && quote == '"' && !at_end()) {
        take();
      } else if (c == quote && (!many_lines || text_.substr(at_ - 1).starts_with(three))) {
        // Up to two quotes more belong to a string of many lines.
        at_ += many_lines ? 2 : 0;
        for (int more = 0; many_lines && more < 2 && !at_end() && text_[at_] == quote; ++more) {
          ++at_;
        }
        return;
      }
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
};

}  // namespace

std::optional<std::string> nested_too_deeply(std::string_view text, const std::string& file) {
  int brackets = 0;
  int dots = 0;
  for (Scanner scanner(text); !scanner.at_end();) {
    const char c = scanner.next();
    if (c == '.') {
      ++dots;
    } else if (c == '[' || c == '{') {
      ++brackets;
    } else if (c == ']' || c == '}') {
      --brackets;
    }
    if (std::string_view("=,[]{}\n").find(c) != std::string_view::npos) {
      dots = 0;
    }
    if (dots > most_dots) {
      return fmt::format("{}:{}: a key with more than {} dots; legal is at most that", file, scanner.line(),
                         most_dots);
    }
    if (brackets > most_brackets) {
      return fmt::format("{}:{}: more than {} brackets inside one another; legal is at most that", file,
                         scanner.line(), most_brackets);
    }
  }
  return std::nullopt;
}

}  // namespace warpscope::hw

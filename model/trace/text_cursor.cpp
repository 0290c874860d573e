#include "model/trace/text_cursor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "model/trace/trace_error.hpp"

namespace warpscope::trace {
namespace {

constexpr std::size_t kLongestQuote = 48;  // of a value in an error message

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_word(char c) {
  return is_letter(c) || is_digit(c) || c == '.';
}
bool is_delimiter(char c) {
  return std::string_view(",:=[]{}@*#\"").find(c) != std::string_view::npos;
}
bool is_printable(char c) {
  return c >= 0x20 && c < 0x7f;
}

int hex_value(char c) {
  if (is_digit(c)) {
    return c - '0';
  }
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += {'\\', c};
    } else if (is_printable(c)) {
      result += c;
    } else {
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  return result;
}

}  // namespace

std::string printable(std::string_view text) {
  return text.size() <= kLongestQuote ? escaped(text) : escaped(text.substr(0, kLongestQuote)) + "...";
}

std::string quoted_if_needed(std::string_view name) {
  // `shared` is a word of the format, where a tensor could stand.
  const bool plain =
      !name.empty() && is_letter(name.front()) && name != "shared" && std::ranges::all_of(name, is_word);
  return plain ? std::string(name) : '"' + escaped(name) + '"';
}

void TextCursor::skip_spaces() {
  while (position_ < text_.size() && is_space(text_[position_])) {
    ++position_;
  }
}

bool TextCursor::at_end() {
  skip_spaces();
  return position_ == text_.size() || text_[position_] == '#';
}

char TextCursor::peek() {
  return at_end() ? '\0' : text_[position_];
}

bool TextCursor::accept(char symbol) {
  skip_spaces();
  return accept_adjacent(symbol);
}

bool TextCursor::accept_adjacent(char symbol) {
  if (position_ < text_.size() && text_[position_] == symbol) {
    ++position_;
    return true;
  }
  return false;
}

void TextCursor::expect(char symbol, std::string_view where) {
  if (!accept(symbol)) {
    fail(where, lookahead(), fmt::format("expected '{}' here", symbol));
  }
}

void TextCursor::expect_end(std::string_view after) {
  if (!at_end()) {
    fail(fmt::format("after {}", after), lookahead(), "expected the end of the line");
  }
}

std::string_view TextCursor::word() {
  skip_spaces();
  const std::size_t begin = position_;
  while (position_ < text_.size() && is_word(text_[position_])) {
    ++position_;
  }
  return text_.substr(begin, position_ - begin);
}

std::string TextCursor::name(std::string_view what) {
  if (peek() == '"') {
    return quoted(what);
  }
  if (at_end() || !is_letter(text_[position_])) {
    fail(what, lookahead(), "expected a word that starts with a letter, or a string in double quotes");
  }
  return std::string(word());
}

std::string TextCursor::quoted(std::string_view what) {
  const std::size_t begin = position_++;
  std::string result;
  while (position_ < text_.size() && text_[position_] != '"') {
    char c = text_[position_++];
    if (c == '\\') {
      const std::string_view rest = text_.substr(position_, 3);
      if (rest.starts_with('"') || rest.starts_with('\\')) {
        c = rest.front();
        ++position_;
      } else if (rest.size() == 3 && rest[0] == 'x' && hex_value(rest[1]) >= 0 && hex_value(rest[2]) >= 0) {
        c = static_cast<char>(hex_value(rest[1]) * 16 + hex_value(rest[2]));
        position_ += 3;
      } else {
        fail(what, text_.substr(begin, position_ - begin), "the escapes are \\\", \\\\ and \\x00 to \\xff");
      }
    }
    result += c;
  }
  if (!accept_adjacent('"')) {
    fail(what, text_.substr(begin), "expected a closing double quote");
  }
  return result;
}

std::string_view TextCursor::lookahead() {
  if (at_end()) {
    return "end of line";
  }
  std::size_t end = position_ + 1;
  while (end < text_.size() && !is_space(text_[end]) && !is_delimiter(text_[end])) {
    ++end;
  }
  return text_.substr(position_, end - position_);
}

template <typename Wide>
Wide TextCursor::wide_integer(std::string_view what, Wide least, Wide most) {
  skip_spaces();
  const char* const begin = text_.data() + position_;
  Wide value = 0;
  const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
  const bool whole = end == text_.data() + text_.size() || !is_letter(*end);
  if (error != std::errc() || !whole || value < least || value > most) {
    fail(what, lookahead(), fmt::format("expected an integer from {} to {}", least, most));
  }
  position_ += static_cast<std::size_t>(end - begin);
  return value;
}

template std::int64_t TextCursor::wide_integer(std::string_view, std::int64_t, std::int64_t);
template std::uint64_t TextCursor::wide_integer(std::string_view, std::uint64_t, std::uint64_t);

void TextCursor::fail(std::string_view what, std::string_view value, std::string_view legal) const {
  throw TraceError(file_, line_, fmt::format("{} '{}': {}", what, printable(value), legal));
}

}  // namespace warpscope::trace

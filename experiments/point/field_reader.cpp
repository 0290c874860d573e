#include "experiments/point/field_reader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "experiments/base/printable.hpp"
#include "experiments/base/usage_error.hpp"

namespace warpscope::experiments {
namespace {

/// An integer from 1 to `most`, or nothing.
std::optional<std::int64_t> number_in(const std::string& text, std::int64_t most) {
  std::int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  const bool legal = error == std::errc() && rest == end && number >= 1 && number <= most;
  return legal ? std::optional(number) : std::nullopt;
}

}  // namespace

void refuse(const std::string& name, std::string_view value, const std::string& legal) {
  throw UsageError(fmt::format("{} {}: {}", name, in_quotes(value), legal));
}

std::string FieldReader::needed(std::string_view field) const {
  std::optional<std::string> value = text_(field);
  if (!value) {
    throw UsageError(fmt::format("{} is missing", name_(field)));
  }
  return *std::move(value);
}

std::optional<std::int64_t> FieldReader::integer(std::string_view field, std::int64_t most) const {
  const std::optional<std::string> value = text_(field);
  if (!value) {
    return std::nullopt;
  }
  const std::optional<std::int64_t> number = number_in(*value, most);
  if (!number) {
    refuse(name_(field), *value, fmt::format("legal is an integer from 1 to {}", most));
  }
  return number;
}

std::size_t FieldReader::choice(std::string_view field, std::initializer_list<std::string_view> legal) const {
  const std::optional<std::string> value = text_(field);
  std::size_t index = 0;
  for (const std::string_view word : legal) {
    if (!value || *value == word) {
      return index;
    }
    ++index;
  }
  refuse(name_(field), *value,
         fmt::format("legal {} {}", legal.size() == 1 ? "is" : "are", fmt::join(legal, ", ")));
}

// No and yes by turns, in the order in which people are likely to write them.
bool FieldReader::yes(std::string_view field) const {
  return choice(field, {"0", "1", "false", "true", "no", "yes"}) % 2 == 1;
}

double FieldReader::positive(std::string_view field, double most, bool below) const {
  const std::optional<std::string> value = text_(field);
  if (!value) {
    return 0;
  }
  double number = 0;
  const char* end = value->data() + value->size();
  const auto [rest, error] = std::from_chars(value->data(), end, number);
  if (error != std::errc() || rest != end || !(number > 0 && number <= most) || (below && number == most)) {
    refuse(name_(field), *value,
           below ? fmt::format("legal is a number above 0 and below {:.0f}", most)
                 : fmt::format("legal is a number above 0, up to {:.0f}", most));
  }
  return number;
}

kernels::KeyWindow FieldReader::window(std::string_view field) const {
  const std::optional<std::string> value = text_(field);
  if (!value) {
    return {};
  }
  const std::size_t between = value->find_first_of(",;");
  const auto side = [&](const std::string& text) {
    const std::optional<std::int64_t> number = text == "-1"  ? -1
                                               : text == "0" ? 0
                                                             : number_in(text, kMostKeys);
    if (!number) {
      refuse(name_(field), *value,
             fmt::format("legal are L and L,R, each an integer from -1 (all keys) to {}", kMostKeys));
    }
    return *number;
  };
  const std::int64_t left = side(value->substr(0, between));
  return {left, between == std::string::npos ? left : side(value->substr(between + 1))};
}

std::vector<std::int64_t> FieldReader::lengths(std::string_view field) const {
  const std::optional<std::string> value = text_(field);
  std::vector<std::int64_t> result;
  for (std::size_t begin = 0; value && begin <= value->size();) {
    const std::size_t end = std::min(value->find_first_of(",;", begin), value->size());
    const std::optional<std::int64_t> number = number_in(value->substr(begin, end - begin), kMostKeys);
    if (!number || std::ssize(result) == kMostBatch) {
      refuse(name_(field), *value,
             fmt::format("legal are up to {} integers from 1 to {}, with commas or semicolons between them",
                         kMostBatch, kMostKeys));
    }
    result.push_back(*number);
    begin = end + 1;
  }
  return result;
}

std::int64_t FieldReader::splits(std::string_view field) const {
  constexpr std::int64_t kMost = 128;  // of FlashAttention-2's library
  const std::optional<std::string> value = text_(field);
  if (value == "auto") {
    return kernels::kAutoSplits;
  }
  const std::optional<std::int64_t> number = value ? number_in(*value, kMost) : 1;
  if (!number) {
    refuse(name_(field), *value, fmt::format("legal are auto and an integer from 1 to {}", kMost));
  }
  return *number;
}

}  // namespace warpscope::experiments

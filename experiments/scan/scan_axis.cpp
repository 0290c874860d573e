#include "experiments/scan/scan_axis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>

#include "experiments/base/printable.hpp"
#include "experiments/base/usage_error.hpp"

namespace warpscope::experiments {
namespace {

std::optional<std::int64_t> positive_integer(std::string_view text) {
  std::int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && rest == end && number > 0 ? std::optional(number) : std::nullopt;
}

/// FIRST:LAST:xFACTOR or FIRST:LAST:+STEP.
struct Range {
  std::int64_t first = 0;
  std::int64_t last = 0;
  bool multiplies = false;
  std::int64_t step = 0;

  bool has_next(std::int64_t value) const { return multiplies ? value <= last / step : value <= last - step; }
  std::int64_t next(std::int64_t value) const { return multiplies ? value * step : value + step; }
};

std::optional<Range> read_range(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::size_t second = text.find(':', colon + 1);
  if (second == std::string_view::npos || second + 1 == text.size()) {
    return std::nullopt;
  }
  const char kind = text[second + 1];
  const std::optional<std::int64_t> first = positive_integer(text.substr(0, colon));
  const std::optional<std::int64_t> last = positive_integer(text.substr(colon + 1, second - colon - 1));
  const std::optional<std::int64_t> step = positive_integer(text.substr(second + 2));
  if ((kind != 'x' && kind != '+') || !first || !last || !step || *first > *last ||
      (kind == 'x' && *step == 1)) {
    return std::nullopt;
  }
  return Range{*first, *last, kind == 'x', *step};
}

}  // namespace

bool is_list_or_range(std::string_view text) {
  return text.find_first_of(",:") != std::string_view::npos;
}

std::vector<std::string> expand_values(const std::string& flag, std::string_view text, bool only_integers) {
  const auto refuse = [&](const std::string& legal) {
    throw UsageError(fmt::format("{} {}: {}", flag, in_quotes(text), legal));
  };
  const auto refuse_form = [&] {
    refuse("legal are values as in 1,2,4 and ranges as in 512:16384:x2 and 512:4096:+512");
  };
  std::vector<std::string> values;
  const auto add = [&](std::string value) {
    values.push_back(std::move(value));
    if (values.size() > kMostScanPoints) {
      refuse(fmt::format("too many values; a scan may have {} points", kMostScanPoints));
    }
  };
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view part = text.substr(begin, end - begin);
    begin = end + 1;
    const bool is_range = part.find(':') != std::string_view::npos;
    if (part.empty() || (only_integers && !is_range && !positive_integer(part))) {
      refuse_form();
    }
    if (!is_range) {
      add(std::string(part));
      continue;
    }
    const std::optional<Range> range = read_range(part);
    if (!range) {
      refuse_form();
    }
    std::int64_t value = range->first;
    add(std::to_string(value));
    while (range->has_next(value)) {
      value = range->next(value);
      add(std::to_string(value));
    }
  }
  return values;
}

}  // namespace warpscope::experiments

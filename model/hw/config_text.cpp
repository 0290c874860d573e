#include "model/hw/config_text.hpp"

#include <fmt/format.h>

#include <toml++/toml.h>
#include <algorithm>
#include <charconv>

#include "model/hw/config_bounds.hpp"

namespace warpscope::hw {
namespace {

constexpr std::size_t longest_shown = 60;
constexpr std::string_view override_prefix = "--set ";

std::string origin_of(const std::string& file, const toml::source_region& region) {
  return fmt::format("{}:{}", file, region.begin.line);
}

RawValue raw_value(const toml::node& node) {
  if (const auto* integer = node.as_integer()) {
    return integer->get();
  }
  if (const auto* number = node.as_floating_point()) {
    return number->get();
  }
  if (const auto* text = node.as_string()) {
    return text->get();
  }
  if (const auto* truth = node.as_boolean()) {
    return UnusableValue{truth->get() ? "true" : "false"};
  }
  return UnusableValue{node.is_table() ? "a table" : node.is_array() ? "an array" : "a date or time"};
}

/// A setting and its place in the file, to undo the alphabetical order of TOML tables.
struct PlacedSetting {
  Setting setting;
  toml::source_position place;
};

void flatten(const toml::table& table, const std::string& prefix, const std::string& file,
             std::vector<PlacedSetting>& out) {
  for (const auto& [key, node] : table) {
    std::string path = prefix.empty() ? std::string(key.str()) : fmt::format("{}.{}", prefix, key.str());
    const auto* const inner = node.as_table();
    if (inner != nullptr && !inner->empty()) {
      flatten(*inner, path, file, out);
    } else {
      out.push_back(
          {Setting{std::move(path), raw_value(node), origin_of(file, key.source())}, key.source().begin});
    }
  }
}

/// The whole of `text` as a number of type T.
template <typename T>
std::optional<T> as_number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return value;
}

}  // namespace

std::optional<ConfigText> parse_config_text(std::string_view text, const std::string& file,
                                            std::vector<std::string>& problems) {
  if (auto problem = nested_too_deeply(text, file)) {
    problems.push_back(*std::move(problem));
    return std::nullopt;
  }
  toml::table document;
  try {
    document = toml::parse(text, file);
  } catch (const toml::parse_error& error) {
    problems.push_back(fmt::format("{}: {}", origin_of(file, error.source()), one_line(error.description())));
    return std::nullopt;
  }

  std::vector<PlacedSetting> placed;
  flatten(document, "", file, placed);
  std::ranges::stable_sort(placed, [](const PlacedSetting& a, const PlacedSetting& b) {
    return std::pair(a.place.line, a.place.column) < std::pair(b.place.line, b.place.column);
  });

  ConfigText result;
  for (PlacedSetting& entry : placed) {
    if (entry.setting.key == "base") {
      result.base = std::move(entry.setting);
    } else {
      result.settings.push_back(std::move(entry.setting));
    }
  }
  return result;
}

std::optional<Setting> parse_override(std::string_view text, std::vector<std::string>& problems) {
  const std::string origin = fmt::format("{}{}", override_prefix, one_line(text));
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    problems.push_back(fmt::format("{}: not of the form key=value", origin));
    return std::nullopt;
  }
  return Setting{std::string(text.substr(0, equals)), std::string(text.substr(equals + 1)), origin};
}

RawValue number_or_text(const std::string& text) {
  if (const auto integer = as_number<std::int64_t>(text)) {
    return *integer;
  }
  if (const auto number = as_number<double>(text)) {
    return *number;
  }
  return text;
}

std::string place(const std::string& origin, std::string_view key) {
  return origin.starts_with(override_prefix) ? origin : fmt::format("{}: {}", origin, one_line(key));
}

std::string display(const RawValue& value) {
  struct Show {
    std::string operator()(std::int64_t integer) const { return fmt::format("{}", integer); }
    std::string operator()(double number) const { return fmt::format("{}", number); }
    std::string operator()(const std::string& text) const { return fmt::format("\"{}\"", one_line(text)); }
    std::string operator()(const UnusableValue& other) const { return one_line(other.text); }
  };
  return std::visit(Show{}, value);
}

std::string one_line(std::string_view text) {
  std::string shown(text.substr(0, longest_shown));
  std::ranges::replace_if(
      shown, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, ' ');
  if (text.size() > longest_shown) {
    shown += "...";
  }
  return shown;
}

}  // namespace warpscope::hw

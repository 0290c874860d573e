// From text to settings: reads a TOML document or a --set override without looking at what the keys mean.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace warpscope::hw {

/// A TOML value that no key can have: an array, a table, a date, a truth value.
struct UnusableValue {
  std::string text;  ///< what it is, for the message
};

using RawValue = std::variant<std::int64_t, double, std::string, UnusableValue>;

/// One "key = value", where it stands, and nothing checked yet.
struct Setting {
  std::string key;
  RawValue value;
  std::string origin;  ///< "file:line", or "--set key=value"
};

/// What one file says.
struct ConfigText {
  std::optional<Setting> base;
  std::vector<Setting> settings;  ///< in the order of their lines
};

/// Parses a document; `file` names it in origins and messages. Empty if it is malformed, with the reason
/// added to `problems`.
std::optional<ConfigText> parse_config_text(std::string_view text, const std::string& file,
                                            std::vector<std::string>& problems);

/// Splits "key=value" and leaves the value as text. Empty, with the reason added to `problems`, if it is not
/// of that form.
std::optional<Setting> parse_override(std::string_view text, std::vector<std::string>& problems);
/// The text as an integer or a number if the whole of it is one.
RawValue number_or_text(const std::string& text);

/// How a message about `key` begins: an override names its key already, a line of a file does not.
std::string place(const std::string& origin, std::string_view key);
/// The value as it is shown in messages: one line, bounded length.
std::string display(const RawValue& value);
/// Text on one line, bounded in length, with control characters replaced.
std::string one_line(std::string_view text);

}  // namespace warpscope::hw

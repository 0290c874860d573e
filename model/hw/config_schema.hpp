// The keys that a GPU description may and must have.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "model/hw/hw_config.hpp"

namespace warpscope::hw {

/// Where the value of a key is stored; the alternative is the key's type.
using Field = std::variant<int*, std::int64_t*, double*, std::string*>;

/// One key of a GPU description.
struct KeySpec {
  std::string_view key;  ///< path in the file and of the field, e.g. "sm.xu.lanes"
  Field (*field)(HwConfig&);
  std::string_view unit;     ///< "cycles", "bytes", ...; empty for plain counts and text
  double min = 0;            ///< least legal value (unused for text)
  double max = 0;            ///< greatest legal value (unused for text)
  std::string_view meaning;  ///< one line
};

/// All keys, in the order in which they are printed and hashed.
std::span<const KeySpec> key_specs();
/// The key of that name, or null.
const KeySpec* find_key(std::string_view key);
/// The legal key that resembles `key` most.
std::string_view nearest_key(std::string_view key);
/// Value of a key as text that the loader would accept again.
std::string value_text(const KeySpec& spec, const HwConfig& config);
/// What is legal for a key: "1..32", "text".
std::string legal_values(const KeySpec& spec);

}  // namespace warpscope::hw

// Integers in JSON that somebody else may have written.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace warpscope::experiments {

/// Reads the integer under `key` into `value`. Throws nlohmann::json::exception where there is none: what
/// becomes of a number with a fraction, or beyond 64 bits, the JSON library leaves undefined.
template <typename Integer>
void read_integer(const nlohmann::json& json, const char* key, Integer& value) {
  const nlohmann::json& number = json.at(key);
  if (!number.is_number_integer()) {
    throw nlohmann::json::type_error::create(302, std::string(key) + " is no integer of 64 bits", &json);
  }
  number.get_to(value);
}

}  // namespace warpscope::experiments

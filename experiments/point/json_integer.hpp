// Integers in JSON that somebody else may have written.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace warpscope::experiments {

/// Reads an integer, which errors call `what`, into `value`. Throws nlohmann::json::exception where there is
/// none: what becomes of a number with a fraction, or beyond 64 bits, the JSON library leaves undefined.
template <typename Integer>
void to_integer(const nlohmann::json& number, const char* what, Integer& value) {
  if (!number.is_number_integer()) {
    throw nlohmann::json::type_error::create(302, std::string(what) + " is no integer of 64 bits", &number);
  }
  number.get_to(value);
}

/// The same for the integer under `key`.
template <typename Integer>
void read_integer(const nlohmann::json& json, const char* key, Integer& value) {
  to_integer(json.at(key), key, value);
}

}  // namespace warpscope::experiments

// Inputs that are several words.
#pragma once

#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace warpscope::fuzz {

/// The pieces between `separator`s.
inline std::vector<std::string> pieces(std::string_view text, char separator) {
  std::vector<std::string> result;
  std::istringstream stream{std::string(text)};
  for (std::string piece; std::getline(stream, piece, separator);) {
    result.push_back(piece);
  }
  return result;
}

}  // namespace warpscope::fuzz

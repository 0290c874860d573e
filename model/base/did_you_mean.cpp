#include "model/base/did_you_mean.hpp"

#include <cctype>

#include "model/base/nearest_name.hpp"

namespace warpscope::base {
std::string letters_and_digits(std::string_view text) {
  std::string result;
  for (const char symbol : text) {
    const auto code = static_cast<unsigned char>(symbol);
    if (std::isalnum(code) != 0) {
      result += static_cast<char>(std::tolower(code));
    }
  }
  return result;
}

std::vector<std::string> names_meant(std::string_view name, std::span<const std::string> names) {
  constexpr std::size_t kShortest = 2;  // one letter begins too many names
  const std::string begin = letters_and_digits(name);
  std::vector<std::string> meant;
  for (const std::string& legal : names) {
    const std::string whole = letters_and_digits(legal);
    if (begin.size() >= kShortest && whole == begin) {
      return {legal};
    }
    if (begin.size() >= kShortest && whole.starts_with(begin)) {
      meant.push_back(legal);
    }
  }
  if (meant.empty() && !names.empty()) {
    const std::string_view nearest =
        nearest_name(name, names, [](const std::string& legal) { return std::string_view(legal); });
    if (edit_distance(name, nearest) <= name.size() / 3) {
      meant.emplace_back(nearest);
    }
  }
  return meant;
}

std::string did_you_mean(std::string_view name, std::span<const std::string> names) {
  const std::vector<std::string> meant = names_meant(name, names);
  std::string text;
  for (std::size_t i = 0; i < meant.size(); ++i) {
    text += i == 0 ? "did you mean " : i + 1 == meant.size() ? " or " : ", ";
    text += meant[i];
  }
  return text.empty() ? text : text + "? ";
}

}  // namespace warpscope::base

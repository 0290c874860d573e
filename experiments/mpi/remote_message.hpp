// What rank 0 and the others tell one another.
#pragma once

#include <charconv>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

namespace warpscope::experiments {

/// A kind, a number, a process of the rank and a text; what they mean is said with each kind.
struct RemoteMessage {
  enum class Kind : char {
    hello = 'H',   ///< to rank 0: how many processes there are, the version
    task = 'T',    ///< from rank 0: id, the process that shall do it, text
    result = 'R',  ///< to rank 0: id, and the fate as a digit before the text
    stop = 'S',    ///< from rank 0
    bye = 'B'      ///< to rank 0: the last one
  };

  Kind kind = Kind::bye;
  std::uint64_t number = 0;
  std::uint64_t process = 0;
  std::string text;
};

inline std::string encode(const RemoteMessage& message) {
  return static_cast<char>(message.kind) + std::to_string(message.number) + ' ' +
         std::to_string(message.process) + ' ' + message.text;
}

/// Throws std::invalid_argument where `bytes` are not what encode() makes.
inline RemoteMessage decode(std::string_view bytes) {
  constexpr std::string_view kKinds = "HTRSB";
  const char* const end = bytes.data() + bytes.size();
  RemoteMessage message;
  std::size_t at = 1;  // of the next number
  const auto take_number = [&](std::uint64_t& number) {
    const auto [rest, error] = std::from_chars(bytes.data() + at, end, number);
    if (error != std::errc() || rest == end || *rest != ' ') {
      throw std::invalid_argument("a message between ranks has no number where one belongs");
    }
    at = static_cast<std::size_t>(rest - bytes.data()) + 1;
  };
  if (bytes.empty() || kKinds.find(bytes.front()) == std::string_view::npos) {
    throw std::invalid_argument("a message between ranks is of no known kind");
  }
  message.kind = static_cast<RemoteMessage::Kind>(bytes.front());
  take_number(message.number);
  take_number(message.process);
  message.text = bytes.substr(at);
  return message;
}

}  // namespace warpscope::experiments

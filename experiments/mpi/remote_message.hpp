// What rank 0 and the others tell one another.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

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

inline RemoteMessage decode(std::string_view bytes) {
  RemoteMessage message;
  message.kind = static_cast<RemoteMessage::Kind>(bytes.front());
  const std::size_t second = bytes.find(' ') + 1;
  const std::size_t text = bytes.find(' ', second) + 1;
  std::from_chars(bytes.data() + 1, bytes.data() + second, message.number);
  std::from_chars(bytes.data() + second, bytes.data() + text, message.process);
  message.text = bytes.substr(text);
  return message;
}

}  // namespace warpscope::experiments

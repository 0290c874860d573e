// What rank 0 and the others tell one another.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

namespace warpscope::experiments {

/// A kind, a number and a text; what they mean is said with each kind.
struct RemoteMessage {
  enum class Kind : char {
    hello = 'H',   ///< to rank 0: how many tasks this one takes at a time, its version
    task = 'T',    ///< from rank 0: id and text
    result = 'R',  ///< to rank 0: id, and the fate as a digit before the text
    stop = 'S',    ///< from rank 0
    bye = 'B'      ///< to rank 0: the last one
  };

  Kind kind = Kind::bye;
  std::uint64_t number = 0;
  std::string text;
};

inline std::string encode(const RemoteMessage& message) {
  return static_cast<char>(message.kind) + std::to_string(message.number) + ' ' + message.text;
}

inline RemoteMessage decode(std::string_view bytes) {
  RemoteMessage message;
  message.kind = static_cast<RemoteMessage::Kind>(bytes.front());
  const std::size_t blank = bytes.find(' ');
  std::from_chars(bytes.data() + 1, bytes.data() + blank, message.number);
  message.text = bytes.substr(blank + 1);
  return message;
}

}  // namespace warpscope::experiments

// Messages between a worker process and its parent, over a socket.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace warpscope::experiments {

/// A text with a mark of what it is.
struct Frame {
  char kind = 0;
  std::string text;
};

/// False where the other side is gone.
bool send_frame(int socket, char kind, std::string_view text);

/// Puts frames together from the pieces in which they arrive.
class FrameReader {
 public:
  enum class State { open, closed };

  explicit FrameReader(int socket) : socket_(socket) {}

  /// Waits for bytes and takes them.
  State read();
  /// The next frame that has arrived as a whole.
  std::optional<Frame> next();

 private:
  int socket_;
  std::string bytes_;
};

}  // namespace warpscope::experiments

// Messages between a worker process and its parent, over a socket.
#pragma once

#include <array>
#include <boost/asio/local/stream_protocol.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace warpscope::experiments {

using Socket = boost::asio::local::stream_protocol::socket;

/// A text with a mark of what it is.
struct Frame {
  char kind = 0;
  std::string text;
};

/// What goes before a text: its kind and its size. Both sides are the same program on the same machine.
class FrameHeader {
 public:
  static constexpr std::size_t kBytes = 1 + sizeof(std::uint64_t);

  FrameHeader() = default;
  FrameHeader(char kind, std::uint64_t text_bytes);

  char kind() const { return bytes_[0]; }
  std::uint64_t text_bytes() const;
  std::array<char, kBytes>& bytes() { return bytes_; }

 private:
  std::array<char, kBytes> bytes_{};
};

/// False where the other side is gone.
bool send_frame(Socket& socket, char kind, std::string_view text);
/// Waits for a frame; nothing where the other side is gone.
std::optional<Frame> receive_frame(Socket& socket);

}  // namespace warpscope::experiments

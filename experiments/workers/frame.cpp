#include "experiments/workers/frame.hpp"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>

namespace warpscope::experiments {
namespace {

// Kind and size of the text that follows. Both sides are the same program on the same machine.
constexpr std::size_t kHeaderBytes = 1 + sizeof(std::uint64_t);

bool send_all(int socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno != EINTR) {
      return false;
    }
    bytes.remove_prefix(sent < 0 ? 0 : static_cast<std::size_t>(sent));
  }
  return true;
}

}  // namespace

bool send_frame(int socket, char kind, std::string_view text) {
  const std::uint64_t size = text.size();
  std::string bytes(kHeaderBytes, kind);
  std::memcpy(bytes.data() + 1, &size, sizeof(size));
  bytes += text;
  return send_all(socket, bytes);
}

FrameReader::State FrameReader::read() {
  std::array<char, 65536> buffer;
  const ssize_t count = ::recv(socket_, buffer.data(), buffer.size(), 0);
  if (count > 0) {
    bytes_.append(buffer.data(), static_cast<std::size_t>(count));
  }
  return count > 0 || (count < 0 && errno == EINTR) ? State::open : State::closed;
}

std::optional<Frame> FrameReader::next() {
  std::uint64_t size = 0;
  if (bytes_.size() < kHeaderBytes) {
    return std::nullopt;
  }
  std::memcpy(&size, bytes_.data() + 1, sizeof(size));
  if (bytes_.size() - kHeaderBytes < size) {
    return std::nullopt;
  }
  Frame frame{bytes_.front(), bytes_.substr(kHeaderBytes, size)};
  bytes_.erase(0, kHeaderBytes + size);
  return frame;
}

}  // namespace warpscope::experiments

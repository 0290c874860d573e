#include "experiments/workers/frame.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <cstring>

namespace warpscope::experiments {

namespace asio = boost::asio;

FrameHeader::FrameHeader(char kind, std::uint64_t text_bytes) {
  bytes_[0] = kind;
  std::memcpy(bytes_.data() + 1, &text_bytes, sizeof(text_bytes));
}

std::uint64_t FrameHeader::text_bytes() const {
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, bytes_.data() + 1, sizeof(bytes));
  return bytes;
}

bool send_frame(Socket& socket, char kind, std::string_view text) {
  FrameHeader header(kind, text.size());
  const std::array parts = {asio::const_buffer(asio::buffer(header.bytes())),
                            asio::const_buffer(text.data(), text.size())};
  boost::system::error_code error;
  asio::write(socket, parts, error);
  return !error;
}

std::optional<Frame> receive_frame(Socket& socket) {
  FrameHeader header;
  boost::system::error_code error;
  asio::read(socket, asio::buffer(header.bytes()), error);
  if (error) {
    return std::nullopt;
  }
  Frame frame{header.kind(), std::string(header.text_bytes(), '\0')};
  asio::read(socket, asio::buffer(frame.text), error);
  return error ? std::nullopt : std::optional(std::move(frame));
}

}  // namespace warpscope::experiments

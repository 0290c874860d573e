#include "kernels/compiler/open_dependences.hpp"

#include <span>

namespace warpscope::kernels {
namespace {

// Spans, as bytes may alias a vector's own pointers, which would be loaded again for each of them.
template <typename T, typename Join>
bool join_each(std::span<T> into, std::span<const T> from, const Join& join) {
  T changes = 0;
  for (std::size_t r = 0; r < into.size(); ++r) {
    const T joined = join(into[r], from[r]);
    changes = static_cast<T>(changes | (joined ^ into[r]));
    into[r] = joined;
  }
  return changes != 0;
}

}  // namespace

bool OpenDependences::join(const OpenDependences& other) {
  const auto both = [](std::uint8_t a, std::uint8_t b) { return static_cast<std::uint8_t>(a | b); };
  const bool writes = join_each<std::uint8_t>(write_boards, other.write_boards, both);
  const bool reads = join_each<std::uint8_t>(read_boards, other.read_boards, both);
  return writes || reads;
}

void OpenDependences::waited(std::uint8_t mask) {
  if (mask == 0) {
    return;
  }
  for (const std::span<std::uint8_t> boards : {std::span(write_boards), std::span(read_boards)}) {
    for (std::uint8_t& board : boards) {
      board = static_cast<std::uint8_t>(board & ~mask);
    }
  }
}

}  // namespace warpscope::kernels

// Bytes that a launch really moves: every access of every CTA, cut at the end of its segment.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "model/trace/launch.hpp"

namespace warpscope::tests {

struct MovedBytes {
  std::uint64_t read = 0;
  std::uint64_t written = 0;
  std::uint64_t touched = 0;  ///< different bytes among them

  bool operator==(const MovedBytes&) const = default;
};

/// By tensor name. Walks all CTAs, warps and iterations: for small launches.
/// Throws std::out_of_range where an access starts before its segment or names a segment that does not exist.
std::map<std::string, MovedBytes> moved_bytes(const trace::Trace& trace, const trace::Launch& launch);

}  // namespace warpscope::tests

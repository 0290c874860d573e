// Requests on their way from an SM to the memory system.
#pragma once

#include <array>
#include <cstdint>

#include "model/sm/address.hpp"
#include "model/sm/sm_state.hpp"

namespace warpscope::sm {

/// A request to the memory system.
struct MemoryRequest {
  memory::AccessKind kind = memory::AccessKind::read;
  std::uint8_t cta_slot = 0;
  std::uint16_t tensor = 0;
  std::uint32_t operand = 0;  ///< into DecodedLaunch::memory_operands
  std::uint32_t turn = 0;     ///< iteration of the outermost loop that it was issued in
  Address asked;              ///< may lie outside the tensor; the rest is the part inside
  std::int64_t segment = 0;
  std::int64_t offset = 0;
  std::uint32_t bytes = 0;  ///< 0: all of it lies outside
  std::uint32_t asked_bytes = 0;
};

/// A request that has left the data path, and whom its answer concerns.
struct SentRequest {
  MemoryRequest request;
  std::int32_t time = 0;  ///< when it left
  std::uint32_t pc = 0;
  std::uint8_t warp = 0;
  std::uint32_t commits = 0;  ///< WarpState::commits when it left
  std::uint32_t tenant = 0;   ///< CTAs that its slot had had when it left
};

/// Requests whose instructions wait in the MIO queue of a sub-core, in its order: their addresses are those
/// of the iteration in which they were issued.
class PreparedRequests {
 public:
  void push(const MemoryRequest& request) { ring_[end_++ % ring_.size()] = request; }
  const MemoryRequest& first() const { return ring_[begin_ % ring_.size()]; }
  void pop() { ++begin_; }

 private:
  std::array<MemoryRequest, kMioEntries> ring_;
  std::uint32_t begin_ = 0;
  std::uint32_t end_ = 0;
};

}  // namespace warpscope::sm

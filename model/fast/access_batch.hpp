// Accesses that nobody waits for, gathered for a while and joined to as few as possible.
#pragma once

#include <cstdint>
#include <vector>

#include "model/fast/member_accesses.hpp"
#include "model/memory/access_kind.hpp"

namespace warpscope::fast {

/// The same bytes as far from the address of each run, `times` times.
struct JoinedAccess {
  memory::AccessKind kind = memory::AccessKind::read;
  std::uint16_t tensor = 0;
  sm::Address begin;
  std::int64_t bytes = 0;
  const MemberRuns* runs = nullptr;
  std::uint32_t lines = 0;  ///< of 128 bytes that hold them, counted for each piece; 0: as few as can
  std::uint32_t times = 1;
  /// Of sectors that several of the joined pieces touch, each time but the first.
  std::uint32_t again_bytes = 0;
};

/// Other SMs' accesses need no answer, so it is enough that they happen soon; equal ones then become one that
/// counts several times and neighbours one of more bytes, which counts as many sectors as they did.
class AccessBatch {
 public:
  void add(const JoinedAccess& access) { accesses_.push_back(access); }
  void clear() { accesses_.clear(); }
  /// What has been added since the last clear(), in the order of addresses.
  const std::vector<JoinedAccess>& join();

 private:
  std::vector<JoinedAccess> accesses_;
};

}  // namespace warpscope::fast

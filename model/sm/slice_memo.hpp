// Slices seen before. An SM in a state that occurred earlier, on any SM, does the same again, as long as its
// loops go on alike and its memory requests cost the same; then the recorded end of the slice replaces its
// execution.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "model/sm/sm_core.hpp"

namespace warpscope::sm {

/// A slice and everything needed to repeat it.
struct RecordedSlice {
  std::vector<SliceEvent> events;
  std::vector<std::uint8_t> end_state;
  Slice slice;
  SmCounters counters;
};

struct StateHash {
  std::uint64_t low = 0;
  std::uint64_t high = 0;

  bool operator==(const StateHash&) const = default;
};

/// Hash of the part of an SM's state that decides its future.
StateHash hash_state(const SmCore& core);

/// All slices recorded in a launch, shared by its SMs.
class SliceMemo {
 public:
  /// Slices that began in this state.
  std::vector<RecordedSlice>& from(const StateHash& hash) { return slices_[hash]; }
  /// False once the memo holds as much as it may; slices are then executed without being recorded.
  bool has_room() const { return bytes_ < kMaxBytes; }
  void count(const RecordedSlice& slice);

 private:
  static constexpr std::size_t kMaxBytes = std::size_t{192} << 20;
  struct Hasher {
    std::size_t operator()(const StateHash& hash) const { return hash.low; }
  };
  std::unordered_map<StateHash, std::vector<RecordedSlice>, Hasher> slices_;
  std::size_t bytes_ = 0;
};

/// Runs the next slice of `core`, from the memo where it is known. `executed` grows by the instructions that
/// had to be stepped. Requests reach `port` exactly once and in the same order either way.
Slice run_memoised(SmCore& core, SliceMemo& memo, std::int32_t min_cycles, std::int32_t max_cycles,
                   const MemoryPort& port, std::uint64_t& executed);

}  // namespace warpscope::sm

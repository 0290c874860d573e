// Slices seen before. An SM in a state that occurred earlier, on any SM, does the same again, as long as its
// loops go on alike and its memory requests cost the same; then the recorded end of the slice replaces its
// execution.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "model/sm/sm_core.hpp"

namespace warpscope::sm {

struct RecordedSlice;

/// Slices that began in one state.
using SlicesFromState = std::vector<std::unique_ptr<RecordedSlice>>;

/// A slice and everything needed to repeat it.
struct RecordedSlice {
  std::vector<SliceEvent> events;
  std::vector<std::uint8_t> end_state;
  Slice slice;
  SmCounters counters;
  bool only_repeats = false;        ///< of loops: nobody enters or leaves one, asks for memory or ends
  std::uint64_t uncounted = 0;      ///< times an SM went through it since the memo last summed up
  SlicesFromState* next = nullptr;  ///< what began in its end state, once that has been looked up
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
  SlicesFromState& from(const StateHash& hash) { return slices_[hash]; }
  /// False once the memo holds as much as it may; slices are then executed without being recorded.
  bool has_room() const { return bytes_ < kMaxBytes; }
  void add(SlicesFromState& where, std::unique_ptr<RecordedSlice> slice);
  /// SMs went through `slice`, so many times in all.
  void count(RecordedSlice& slice, std::uint64_t times) {
    if (slice.uncounted == 0) {
      uncounted_.push_back(&slice);
    }
    slice.uncounted += times;
  }
  /// What all repetitions of the recorded slices have counted.
  const SmCounters& counters();

 private:
  static constexpr std::size_t kMaxBytes = std::size_t{128} << 20;
  struct Hasher {
    std::size_t operator()(const StateHash& hash) const { return hash.low; }
  };
  std::unordered_map<StateHash, SlicesFromState, Hasher> slices_;
  std::size_t bytes_ = 0;
  std::vector<RecordedSlice*> uncounted_;
  SmCounters counters_;
};

/// Takes one core through its slices, from the memo where they are known. While slice follows known slice,
/// the core's state is not even copied.
class SliceReplayer {
 public:
  SliceReplayer(SmCore& core, SliceMemo& memo) : core_(core), memo_(memo) {}

  /// Runs the next slice, which counts for `sms` SMs. Requests reach `port` exactly once and in the same
  /// order, known or not.
  Slice run(std::int32_t min_cycles, std::int32_t max_cycles, const MemoryPort& port, int sms);
  /// Where the last slices have brought the core round to the same state, without anything in between that
  /// depends on more than it: all that many times more, as far as no loop ends, as one slice.
  std::optional<Slice> repeat_cycle(int sms);
  /// Brings the core into the state it stands for; before anything but `run` touches it.
  void catch_up();
  /// Slices of this core are numbered; the last ones are remembered until they are forgotten, and no more
  /// than some ten thousand.
  std::size_t slices() const { return forgotten_ + visited_.size(); }
  void forget_slices() {
    forgotten_ += visited_.size();
    visited_.clear();
  }
  /// Counts remembered slices [first, last) `times` times more, for `sms` SMs. False if some are not known.
  bool repeat(std::size_t first, std::size_t last, std::uint64_t times, int sms);
  /// Instructions of remembered slices [first, last), all of them known.
  std::uint64_t issued(std::size_t first, std::size_t last) const;
  /// The core with its state up to date.
  const SmCore& core_now();
  /// Instructions that had to be stepped.
  std::uint64_t executed() const { return executed_; }

 private:
  /// Slices that are remembered, half of them at least.
  static constexpr std::ptrdiff_t kMostVisited = 32768;
  /// Of slices; their beginnings on the arrival grid come round after sixteen.
  static constexpr std::size_t kLongestCycle = 64;
  /// In cycles; a slice has times of 32 bits.
  static constexpr std::int64_t kLongestRepeat = std::int64_t{1} << 29;

  void visit(RecordedSlice* slice);
  /// How many slices it took to come round to where the core stands; 0 if it has not.
  std::size_t cycle() const;
  /// Follows a recorded slice with the loops and addresses of the core; true where all of it applies.
  bool follow(const RecordedSlice& recorded, const MemoryPort& port);
  void copy_state();
  Slice execute(SlicesFromState& known, std::int32_t min_cycles, std::int32_t max_cycles,
                const MemoryPort& port, int sms);

  SmCore& core_;
  SliceMemo& memo_;
  RecordedSlice* reached_ = nullptr;  ///< the core stands at the end of this slice
  bool copied_ = true;                ///< and its state says so
  std::uint64_t executed_ = 0;
  std::vector<RecordedSlice*> visited_;  ///< null: not recorded
  std::size_t forgotten_ = 0;
  std::vector<memory::Response> answered_;  ///< to the requests of this slice so far
  std::array<LoopCounters, kMaxWarps> counters_{};
};

}  // namespace warpscope::sm

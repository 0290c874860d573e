// From the events of one SM to spans: its warps, pipes, copies and barriers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "model/metrics/timeline_data.hpp"

namespace warpscope::metrics {

/// Joins events that belong together while they come in, and keeps what lies in the window of `data`, up to
/// `most_spans`.
class SmTimeline {
 public:
  SmTimeline(TimelineData& data, std::size_t most_spans) : data_(data), most_spans_(most_spans) {}

  void launch_begins(const LaunchBegin& launch, std::int64_t origin);
  /// The warps of the slot begin anew.
  void cta_begins(int slot);
  void slice(std::int64_t start, std::span<const SmEvent> events);
  void launch_ends();

 private:
  /// What an instruction is to a timeline.
  struct Instruction {
    trace::Pipe pipe = trace::Pipe::control;
    trace::OpClass op_class = trace::OpClass::nop;
    std::uint32_t bytes = 0;
    std::uint16_t tensor = 0;
    int barrier = 0;
  };
  /// The n-th groups of copies of all warps of a CTA, which copy a tile together.
  struct CopyGroup {
    TimelineCopy copy;
    int committed = 0;          ///< warps that have
    std::uint32_t arrived = 0;  ///< of the copies
  };

  using CopyGroups = std::map<std::pair<int, std::uint16_t>, CopyGroup>;

  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  int slot_of(int warp) const { return warp / warps_per_cta_; }
  std::size_t spans() const {
    return data_.warps.size() + data_.pipes.size() + data_.copies.size() + data_.barriers.size();
  }
  void issue(const SmEvent& event, CycleSpan span);
  void wait(const SmEvent& event, CycleSpan span);
  void memory(const SmEvent& event, CycleSpan span);
  void barrier(const SmEvent& event, CycleSpan span);
  void take_pipe(int sub_core, trace::Pipe pipe, CycleSpan span);
  void begin_copy(const Instruction& instruction, int warp, CycleSpan span);
  void copied(const SmEvent& event, std::int64_t cycle);
  void commit(int warp);
  /// Once all warps have committed the group and all of it is there.
  void keep_if_whole(CopyGroups::iterator group);
  void keep(const TimelineCopy& copy);
  void keep_groups(int slot);

  TimelineData& data_;
  std::size_t most_spans_;
  std::int64_t origin_ = 0;  ///< first cycle of the launch
  int warps_per_cta_ = 1;
  int sub_cores_ = 1;
  std::vector<Instruction> code_;                ///< by pc
  std::array<std::size_t, 256> last_of_warp_{};  ///< its latest span in data_.warps
  std::map<std::pair<int, trace::Pipe>, std::size_t> last_of_pipe_;
  std::array<std::uint16_t, 256> groups_of_warp_{};             ///< that it has committed
  CopyGroups groups_;                                           ///< by slot and number
  std::map<std::pair<int, int>, std::int64_t> first_arrivals_;  ///< by slot and barrier
};

}  // namespace warpscope::metrics

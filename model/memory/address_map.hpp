// One flat space of addresses for all tensors of a trace.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/memory/tensor_extent.hpp"

namespace warpscope::memory {

/// A byte of a tensor.
struct TensorPlace {
  std::uint16_t tensor = 0;
  std::int64_t segment = 0;
  std::int64_t offset = 0;  ///< within the segment

  bool operator==(const TensorPlace&) const = default;
};

/// Blocks of a segment: first, first + step and so on.
struct SegmentBlocks {
  std::int64_t first = 0;
  std::int64_t step = 1;
};

/// Tensors lie behind one another from address 0 on, and so do the segments of each. Each segment begins at a
/// block of the L2, so that no two of them share one.
class AddressMap {
 public:
  explicit AddressMap(const std::vector<TensorExtent>& tensors);

  std::uint64_t address(std::uint16_t tensor, std::int64_t segment, std::int64_t offset) const {
    const Range& range = ranges_[tensor];
    return range.begin + static_cast<std::uint64_t>(segment * range.segment_pitch + offset);
  }
  /// Block of the L2 where a segment of a tensor begins, and how far from one another its blocks are: as many
  /// as segments are interleaved, block i of each before block i + 1 of any.
  SegmentBlocks blocks(std::uint16_t tensor, std::int64_t segment) const;
  /// What lies there; nothing between segments and behind the last tensor.
  std::optional<TensorPlace> place(std::uint64_t address) const;
  std::uint64_t end() const { return end_; }
  std::size_t tensors() const { return ranges_.size(); }

 private:
  struct Range {
    std::uint64_t begin = 0;
    std::int64_t segment_pitch = 0;  ///< from the begin of a segment to that of the next
    std::int64_t segment_bytes = 0;
    std::int64_t interleaved_segments = 1;
  };
  std::vector<Range> ranges_;
  std::uint64_t end_ = 0;
};

}  // namespace warpscope::memory

#include "model/memory/address_map.hpp"

#include <algorithm>

#include "model/memory/block_cache.hpp"

namespace warpscope::memory {

AddressMap::AddressMap(const std::vector<TensorExtent>& tensors) {
  for (const TensorExtent& tensor : tensors) {
    const std::int64_t pitch = (tensor.segment_bytes + kBlockBytes - 1) / kBlockBytes * kBlockBytes;
    ranges_.push_back({end_, pitch, tensor.segment_bytes, tensor.interleaved_segments});
    end_ += static_cast<std::uint64_t>(tensor.segments * pitch);
  }
}

SegmentBlocks AddressMap::blocks(std::uint16_t tensor, std::int64_t segment) const {
  const Range& range = ranges_[tensor];
  const std::int64_t place = segment % range.interleaved_segments;
  const std::uint64_t begin =
      range.begin + static_cast<std::uint64_t>((segment - place) * range.segment_pitch);
  return {static_cast<std::int64_t>(begin) / kBlockBytes + place, range.interleaved_segments};
}

std::optional<TensorPlace> AddressMap::place(std::uint64_t address) const {
  const auto after = std::ranges::upper_bound(ranges_, address, {}, &Range::begin);
  if (after == ranges_.begin() || address >= end_) {
    return std::nullopt;
  }
  // A tensor without bytes begins where the next one does; upper_bound() has passed it by.
  const Range& range = *std::prev(after);
  const auto distance = static_cast<std::int64_t>(address - range.begin);
  const TensorPlace place{static_cast<std::uint16_t>(std::prev(after) - ranges_.begin()),
                          distance / range.segment_pitch, distance % range.segment_pitch};
  return place.offset < range.segment_bytes ? std::optional(place) : std::nullopt;
}

}  // namespace warpscope::memory

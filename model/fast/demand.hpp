// What CTAs ask for, and what of it there is.
#pragma once

#include <cmath>
#include <cstdint>

#include "model/memory/access_kind.hpp"
#include "model/memory/block_cache.hpp"

namespace warpscope::fast {

/// Bytes of one tensor that CTAs asked for, for those too that they stand for, and what of it moved: the part
/// inside the tensor, reads in whole sectors.
struct Demand {
  std::uint64_t read_asked = 0;
  std::uint64_t read_inside = 0;  ///< the tensor
  std::uint64_t read_moved = 0;
  std::uint64_t write_asked = 0;
  std::uint64_t write_moved = 0;

  /// `times` accesses that ask for so many bytes, of which those inside begin at `offset`; `again_bytes` of
  /// them move once more.
  void add(memory::AccessKind kind, std::int64_t offset, std::uint32_t inside_bytes,
           std::uint64_t asked_bytes, std::uint32_t again_bytes, std::uint64_t times) {
    constexpr std::int64_t kSector = memory::kSectorBytes;
    const std::int64_t sectors = (offset + inside_bytes + kSector - 1) / kSector - offset / kSector;
    if (kind == memory::AccessKind::read) {
      read_asked += times * asked_bytes;
      read_inside += times * inside_bytes;
      read_moved +=
          times * ((inside_bytes == 0 ? 0 : static_cast<std::uint64_t>(sectors * kSector)) + again_bytes);
    } else {
      write_asked += times * asked_bytes;
      write_moved += times * inside_bytes;
    }
  }

  void add(const Demand& other) {
    read_asked += other.read_asked;
    read_inside += other.read_inside;
    read_moved += other.read_moved;
    write_asked += other.write_asked;
    write_moved += other.write_moved;
  }

  /// Takes from `others` too which part lies inside the tensor. How many sectors they read is not known,
  /// since their accesses are joined.
  void add_inside(const Demand& others) {
    if (read_inside > 0) {
      const double own = static_cast<double>(read_inside) / static_cast<double>(read_asked);
      const double all = static_cast<double>(read_inside + others.read_inside) /
                         static_cast<double>(read_asked + others.read_asked);
      read_moved = static_cast<std::uint64_t>(std::llround(static_cast<double>(read_moved) * all / own));
    }
    write_asked += others.write_asked;
    write_moved += others.write_moved;
  }
};

}  // namespace warpscope::fast

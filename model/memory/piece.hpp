// What travels between SMs and L2: the part of a request that lies in one block.
#pragma once

#include <cstdint>

#include "model/memory/access_kind.hpp"

namespace warpscope::memory {

/// One SM's access to sectors of one block of the L2, or that of several SMs that access the same. A slice of
/// the L2 takes pieces in the order of (time, SM, number), which is that of no host.
struct Piece {
  std::int64_t time_cycles = 0;  ///< when it leaves the SM
  std::int64_t arrival_cycles =
      0;                  ///< answer of the slice: when the data, or the word that it is stored, is at the SM
  std::uint64_t key = 0;  ///< block_key()
  std::uint64_t mask = 1;     ///< sectors that have to be there, a bit for each of the block
  std::uint32_t number = 0;   ///< in the order in which its SM asks
  std::uint32_t request = 0;  ///< that it belongs to; the SM's own affair
  std::uint16_t sm = 0;
  std::uint16_t slice = 0;
  std::uint16_t bytes = 0;          ///< that are accessed
  std::uint16_t lines = 1;          ///< of 128 bytes that hold them
  std::uint16_t accesses = 1;       ///< SMs that make it, each as often as it does
  std::uint16_t again_sectors = 0;  ///< read in several pieces, each time but the first
  std::int32_t apart_cycles = 0;    ///< between two of these SMs
  std::uint16_t partitions = 1;     ///< of the L2 that these SMs belong to, a bit mask
  std::uint16_t first_sector = 0;   ///< within the block
  std::uint16_t sectors = 1;        ///< that are accessed
  AccessKind kind = AccessKind::read;
};

/// The total order in which the memory system takes what all SMs ask for.
inline bool goes_before(const Piece& a, const Piece& b) {
  if (a.time_cycles != b.time_cycles) {
    return a.time_cycles < b.time_cycles;
  }
  return a.sm != b.sm ? a.sm < b.sm : a.number < b.number;
}

}  // namespace warpscope::memory

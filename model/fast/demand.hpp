// What CTAs ask for, and what of it there is.
#pragma once

#include <cstdint>

namespace warpscope::fast {

/// Bytes of one tensor that the simulated CTAs asked for, for those too that they stand for, and what of it
/// moved: the part inside the tensor, reads in whole sectors.
struct Demand {
  std::uint64_t read_asked = 0;
  std::uint64_t read_moved = 0;
  std::uint64_t write_asked = 0;
  std::uint64_t write_moved = 0;

  void add(const Demand& other) {
    read_asked += other.read_asked;
    read_moved += other.read_moved;
    write_asked += other.write_asked;
    write_moved += other.write_moved;
  }
};

}  // namespace warpscope::fast

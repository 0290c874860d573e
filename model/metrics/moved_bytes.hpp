// Bytes that moved between SMs, L2 and HBM.
#pragma once

#include <cstdint>
#include <span>

namespace warpscope::metrics {

/// Of one tensor or of all: between the SMs and the L2 (reads in whole sectors), and across the pins of HBM.
struct MovedBytes {
  std::uint64_t l2_read = 0;      ///< asked of the L2
  std::uint64_t l2_read_hit = 0;  ///< of these, found there
  std::uint64_t l2_write = 0;
  std::uint64_t hbm_read = 0;
  std::uint64_t hbm_write = 0;

  MovedBytes& operator+=(const MovedBytes& more) {
    l2_read += more.l2_read;
    l2_read_hit += more.l2_read_hit;
    l2_write += more.l2_write;
    hbm_read += more.hbm_read;
    hbm_write += more.hbm_write;
    return *this;
  }
  MovedBytes operator-(const MovedBytes& before) const {
    return {l2_read - before.l2_read, l2_read_hit - before.l2_read_hit, l2_write - before.l2_write,
            hbm_read - before.hbm_read, hbm_write - before.hbm_write};
  }
};

inline MovedBytes sum_of(std::span<const MovedBytes> parts) {
  MovedBytes sum;
  for (const MovedBytes& part : parts) {
    sum += part;
  }
  return sum;
}

}  // namespace warpscope::metrics

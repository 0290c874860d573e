// Which heads share lines of memory.
#pragma once

#include <numeric>

#include "kernels/kernel.hpp"
#include "kernels/machine/tiles.hpp"
#include "model/trace/trace_limits.hpp"

namespace warpscope::kernels::fa2 {

/// Where rows of the heads of a token lie behind one another, copies ask the L2 for whole lines of 128 bytes
/// (cp.async with L2::128B in CUTLASS): heads of 32 share lines in pairs, and two of 96 have three lines.
/// What is written lies there as well, each head's part by itself. A head whose own rows do shares none.
/// Returns how many heads share lines: as few as fill whole ones, or all where their number is no multiple of
/// that, so that tokens share lines too.
inline std::int64_t heads_per_line(std::int64_t heads, const Problem& problem, ElementType type) {
  if (problem.heads_first) {
    return 1;
  }
  using trace::kLineBytes;
  const std::int64_t row_bytes = problem.head_dim * element_bytes(type);
  const std::int64_t in_lines = kLineBytes / std::gcd(kLineBytes, row_bytes);
  const std::int64_t sharing = heads % in_lines == 0 ? in_lines : heads;
  return sharing <= trace::kMostLineSegments ? sharing : 1;
}

}  // namespace warpscope::kernels::fa2

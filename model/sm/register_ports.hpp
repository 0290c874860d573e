// Who reads registers when: a sub-core reads one register of each bank in a cycle. Every instruction comes by
// here, so these are inline.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace warpscope::sm {

/// The cycles in which the ports are taken; bit i of a mask is the cycle `from + i`.
struct RegisterPorts {
  static constexpr std::int32_t kCycles = 64;
  static constexpr std::int32_t kStop = 2;

  std::int32_t from = -1;
  std::int32_t lane_read = -1;    ///< last cycle of FMA and ALU instructions, which read one after the other
  std::int32_t product_free = 0;  ///< the next tensor instruction may begin to read
  std::uint64_t taken = 0;
  std::uint64_t product_alone = 0;   ///< in which only tensor instructions, FMA and ALU read
  std::uint64_t product_last = 0;    ///< the last reads of tensor instructions
  std::uint64_t by_memory = 0;       ///< reads of memory instructions
  std::uint64_t by_xu = 0;           ///< reads of XU instructions
  std::int32_t lanes_stop = -kStop;  ///< FMA and ALU instructions do not leave for kStop cycles from here on

  /// Forgets what lies more than a cycle before `time`.
  void go_on_to(std::int32_t time) {
    const std::int32_t by = time - 1 - from;
    if (by <= 0) {
      return;
    }
    for (std::uint64_t* cycles : {&taken, &product_alone, &product_last, &by_memory, &by_xu}) {
      *cycles = by < kCycles ? *cycles >> by : 0;
    }
    from += by;
  }
  void rebase(std::int32_t origin) {
    go_on_to(origin);
    from -= origin;
    lane_read = std::max(-1, lane_read - origin);
    product_free = std::max(0, product_free - origin);
    lanes_stop = std::max(-kStop, lanes_stop - origin);
  }

  /// When an FMA or ALU instruction leaves that could do so at `time`.
  std::int32_t behind_stop(std::int32_t time) const {
    return time >= lanes_stop && time < lanes_stop + kStop ? lanes_stop + kStop : time;
  }
};

/// What lies so many cycles back need not be forgotten at each instruction: that takes longer than to read.
constexpr std::int32_t kLongAgo = 24;

/// An FMA or ALU instruction that issues in cycle `time` and needs the ports for `cycles` of its first
/// `window` ones. Returns the cycle in which it leaves for its pipe: it stands where too few are left.
inline std::int32_t read_for_lanes(RegisterPorts& ports, int cycles, int window, std::int32_t time) {
  const std::int32_t first = ports.behind_stop(time);
  if (first - ports.from > kLongAgo) {
    ports.go_on_to(first);
  }
  const std::int32_t begin =
      std::min(RegisterPorts::kCycles - 1, std::max(first, ports.lane_read + 1) - ports.from);
  const std::int32_t end = first + window - ports.from;
  std::uint64_t free = ~ports.taken >> begin << begin;
  const std::uint64_t in_time = free & ((std::uint64_t{1} << std::max(begin, end)) - 1);
  std::uint64_t left = in_time;
  if (cycles == 1 && in_time != 0) {  // as in most
    left = std::bit_floor(in_time);
  } else if (std::popcount(in_time) >= cycles) {  // the last ones of the window
    for (int i = std::popcount(in_time); i > cycles; --i) {
      left &= left - 1;
    }
  } else {  // the first ones there are
    left = 0;
    for (int i = 0; i < cycles; ++i) {
      left |= free & (~free + 1);
      free &= free - 1;
    }
  }
  ports.taken |= left;
  ports.lane_read = ports.from + RegisterPorts::kCycles - 1 - std::countl_zero(left);
  const std::int32_t leaves = ports.behind_stop(std::max(first, ports.lane_read - window + 1));
  ports.product_free += leaves - time;
  return leaves;
}

/// Cycles of the ports that a tensor instruction takes.
struct ProductReads {
  int first = 0;   ///< for A, from the cycle after it leaves on
  int second = 0;  ///< for B and C, the last ones of `cycles`
  int cycles = 1;  ///< until the next tensor instruction may leave
};

/// When a tensor instruction leaves for its pipe, and how much later what memory instructions still have to
/// read comes.
struct ProductLeaves {
  std::int32_t time = 0;
  std::int32_t memory_waits = 0;
};

/// A tensor instruction that issues in cycle `time`. From the cycle after it leaves to the last but one of
/// its reads, instructions of XU and MIO read nothing; one that reads in the last, or as it leaves, costs the
/// next tensor instruction a cycle.
inline ProductLeaves read_for_product(RegisterPorts& ports, const ProductReads& reads, std::int32_t time) {
  ProductLeaves result{std::max(time, ports.product_free), 0};
  ports.go_on_to(result.time);
  // A needs one of three cycles around this one, or it is read before anything else.
  constexpr std::uint64_t kAround = 7;
  const std::uint64_t taken = ports.taken & ~ports.by_memory & ~ports.by_xu;
  result.time += (taken & kAround) == kAround ? reads.first : 0;
  ports.go_on_to(result.time);
  constexpr std::uint64_t kLeaves = 2;
  const std::uint64_t last = kLeaves << reads.cycles;
  const std::uint64_t alone = last - 2 * kLeaves;
  const int second = std::max(1, reads.cycles + 1 - reads.second);
  const std::uint64_t cycles =
      ((std::uint64_t{1} << reads.first) - 1) << 2 | ((std::uint64_t{1} << reads.second) - 1) << (second + 1);
  if ((ports.by_memory & alone) != 0) {
    const int first = std::countr_zero(ports.by_memory & alone);
    result.memory_waits = reads.cycles + 1 - first;
    const std::uint64_t before = ports.by_memory & ((std::uint64_t{1} << first) - 1);
    ports.by_memory = before | ports.by_memory >> first << (first + result.memory_waits);
  }
  ports.by_xu = (ports.by_xu & alone) != 0 ? (ports.by_xu & ~alone) | last : ports.by_xu;
  ports.product_free =
      result.time + reads.cycles + std::popcount((last | kLeaves) & (ports.by_memory | ports.by_xu));
  ports.lanes_stop = result.time + reads.cycles + RegisterPorts::kStop;
  ports.taken |= cycles;
  ports.product_alone |= alone;
  ports.product_last |= last;
  return result;
}

/// An instruction of XU or MIO reads a register in cycle `time` or as soon afterwards as no tensor
/// instruction has the ports to itself. Notes it in `readers`, and returns the cycle.
inline std::int32_t read_later(RegisterPorts& ports, std::uint64_t RegisterPorts::*readers,
                               std::int32_t time) {
  std::int32_t at = std::max(0, time - ports.from);
  if (at >= RegisterPorts::kCycles) {
    return time;
  }
  while ((ports.product_alone >> at & 1) != 0) {
    ++at;
  }
  const std::uint64_t cycle = std::uint64_t{1} << at;
  ports.product_free += (ports.product_last & cycle) != 0 ? 1 : 0;
  ports.taken |= cycle;
  ports.*readers |= cycle;
  return ports.from + at;
}

}  // namespace warpscope::sm

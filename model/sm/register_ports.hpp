// Who reads registers when: a sub-core reads one register of each bank in a cycle. Every instruction comes by
// here, so these are inline.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

namespace warpscope::sm {

/// The cycles in which the ports are taken; bit i of a mask is the cycle `from + i`.
struct RegisterPorts {
  static constexpr std::int32_t kCycles = 64;
  static constexpr std::int32_t kStopBehind = 2;  ///< cycles from when the next tensor instruction may issue
  static constexpr std::uint64_t kStop = 3;       ///< two cycles

  std::int32_t from = -1;
  std::int32_t lane_read = -1;    ///< last cycle of FMA and ALU instructions, which read one after the other
  std::int32_t product_free = 0;  ///< the next tensor instruction may begin to read
  std::uint64_t taken = 0;
  std::uint64_t product_alone = 0;  ///< in which only tensor instructions, FMA and ALU read
  std::uint64_t product_last = 0;   ///< the last reads of tensor instructions
  std::uint64_t by_memory = 0;      ///< reads of memory instructions
  std::uint64_t by_xu = 0;          ///< reads of XU instructions
  std::uint64_t lanes_stop = 0;     ///< in which FMA and ALU instructions do not leave

  /// Forgets what lies more than a cycle before `time`.
  void go_on_to(std::int32_t time) {
    const std::int32_t by = time - 1 - from;
    if (by <= 0) {
      return;
    }
    for (std::uint64_t* cycles : {&taken, &product_alone, &product_last, &by_memory, &by_xu, &lanes_stop}) {
      *cycles = by < kCycles ? *cycles >> by : 0;
    }
    from += by;
  }
  void rebase(std::int32_t origin) {
    go_on_to(origin);
    from -= origin;
    lane_read = std::max(-1, lane_read - origin);
    product_free = std::max(0, product_free - origin);
  }

  /// The bit of the cycle `time`. What lies a little further back need not be forgotten each time: that takes
  /// longer than to read.
  std::int32_t bit_of(std::int32_t time) {
    constexpr std::int32_t kLongAgo = 24;
    if (time - from > kLongAgo) {
      go_on_to(time);
    }
    return time - from;
  }
  /// When an FMA or ALU instruction leaves that could do so at `time`.
  std::int32_t behind_stop(std::int32_t time) {
    const std::int32_t at = bit_of(time);  // which may shift the mask
    return time + std::countr_one(lanes_stop >> at);
  }
};

/// The most cycles that FMA and ALU instructions may have to read in.
constexpr int kMostWindow = 8;
constexpr int kMostReads = 16;  ///< cycles, one more than any of them needs

/// By the free cycles of a window and how many of them an instruction needs: the last ones, or none where
/// there are too few.
constexpr auto kLastFree = [] {
  std::array<std::array<std::uint8_t, kMostReads>, 1U << kMostWindow> last{};
  for (unsigned free = 0; free < last.size(); ++free) {
    unsigned left = free;
    for (int cycles = std::popcount(free); cycles > 0; --cycles, left &= left - 1) {
      last[free][static_cast<std::size_t>(cycles)] = static_cast<std::uint8_t>(left);
    }
  }
  return last;
}();

/// Too few cycles of the window are free: the first ones from bit `begin` on that are, and the instruction
/// stands until they are its last.
inline std::int32_t stand_for_lanes(RegisterPorts& ports, int cycles, int window, std::int32_t first) {
  const std::int32_t begin =
      std::min(RegisterPorts::kCycles - 1, std::max(first, ports.lane_read + 1) - ports.from);
  std::uint64_t free = ~ports.taken >> begin << begin;
  std::uint64_t read = 0;
  for (int i = 0; i < cycles; ++i) {
    read |= free & (~free + 1);
    free &= free - 1;
  }
  ports.taken |= read;
  ports.lane_read = ports.from + RegisterPorts::kCycles - 1 - std::countl_zero(read);
  return ports.behind_stop(std::max(first, ports.lane_read - window + 1));
}

/// An FMA or ALU instruction that issues in cycle `time` and needs the ports for `cycles` of its first
/// `window` ones, none where it reads no registers. Returns the cycle in which it leaves for its pipe: it
/// stands where too few are left, and where tensor instructions stop it, while it may read already.
inline std::int32_t read_for_lanes(RegisterPorts& ports, int cycles, int window, std::int32_t time) {
  std::int32_t leaves = ports.behind_stop(time);
  if (cycles > 0) {
    const std::int32_t at = ports.bit_of(time);
    const std::int32_t behind = std::clamp(ports.lane_read + 1 - time, 0, window);
    const std::uint64_t free = (~ports.taken >> at) & ((1U << window) - (1U << behind));
    const std::uint64_t read = kLastFree[free][static_cast<std::size_t>(cycles)];
    if (read != 0) {
      ports.taken |= read << at;
      ports.lane_read = time + static_cast<std::int32_t>(std::bit_width(read)) - 1;
    } else {
      leaves = std::max(leaves, stand_for_lanes(ports, cycles, window, time));
    }
  }
  return leaves;
}

/// Cycles of the ports that a tensor instruction takes.
struct ProductReads {
  int first = 0;   ///< for A, from the cycle after it leaves on
  int second = 0;  ///< for B and C, the last ones of `cycles`
  int cycles = 1;  ///< until the next tensor instruction may leave
};

/// When a tensor instruction leaves for its pipe, and what it does to those that still have to read.
struct ProductLeaves {
  std::int32_t time = 0;
  std::int32_t memory_waits = 0;  ///< so much later memory instructions read
  std::int32_t xu_reads = -1;  ///< when XU instructions read that would have done so before, if there are any
};

/// A tensor instruction that issues in cycle `time`. From the cycle after it leaves to the last but one of
/// its reads, instructions of XU and MIO read nothing; one that reads in the last, or as it leaves, costs the
/// next tensor instruction a cycle.
inline ProductLeaves read_for_product(RegisterPorts& ports, const ProductReads& reads, std::int32_t time) {
  ProductLeaves result{std::max(time, ports.product_free), 0};
  // A needs one of three cycles around this one, or it is read before anything else.
  constexpr std::uint64_t kAround = 7;
  const std::int32_t before_it = ports.bit_of(result.time) - 1;
  ports.lanes_stop |= RegisterPorts::kStop << (before_it + 1 + reads.cycles + RegisterPorts::kStopBehind);
  const std::uint64_t taken = (ports.taken & ~ports.by_memory & ~ports.by_xu) >> before_it;
  result.time += (taken & kAround) == kAround ? reads.first : 0;
  const std::int32_t at = ports.bit_of(result.time);
  const std::uint64_t leaves = std::uint64_t{1} << at;
  const std::uint64_t last = leaves << reads.cycles;
  const std::uint64_t alone = last - 2 * leaves;
  const int second = std::max(1, reads.cycles + 1 - reads.second);
  const std::uint64_t cycles =
      ((std::uint64_t{1} << reads.first) - 1) << 1 | ((std::uint64_t{1} << reads.second) - 1) << second;
  if ((ports.by_memory & alone) != 0) {
    const int first = std::countr_zero(ports.by_memory & alone);
    result.memory_waits = at + reads.cycles - first;
    const std::uint64_t before = ports.by_memory & ((std::uint64_t{1} << first) - 1);
    ports.by_memory = before | ports.by_memory >> first << (first + result.memory_waits);
  }
  if ((ports.by_xu & alone) != 0) {
    ports.by_xu = (ports.by_xu & ~alone) | last;
    result.xu_reads = result.time + reads.cycles;
  }
  ports.product_free =
      result.time + reads.cycles + std::popcount((last | leaves) & (ports.by_memory | ports.by_xu));
  ports.taken |= cycles << at;
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

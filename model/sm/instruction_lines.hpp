// A level of the instruction cache: which lines of code it holds and when they arrive.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "model/hw/model_room.hpp"

namespace warpscope::sm {

inline constexpr int kInstructionWays = hw::kInstructionWays;

/// Sets of lines of code, of each set the least recently used line out first.
class InstructionLines {
 public:
  InstructionLines() = default;
  /// Holds `lines` of the `code_lines` that a launch has. Code that needs fewer sets is given no more: none
  /// of it is evicted either way.
  InstructionLines(std::uint32_t lines, std::uint32_t code_lines);

  /// When the line arrives, which is now the most recent of its set; null if it is not held.
  std::int32_t* find(std::uint32_t line);
  /// Holds the line, which was not found, in place of another.
  void put(std::uint32_t line, std::int32_t available);
  /// Calls `use` with the arrival of each line.
  template <typename Use>
  void for_each_arrival(const Use& use) {
    for (Set& set : sets_) {
      for (std::int32_t& available : set.available) {
        use(available);
      }
    }
  }
  std::uint32_t sets() const { return static_cast<std::uint32_t>(sets_.size()); }
  /// How many lines it holds.
  int held() const;

 private:
  /// Most recent line first.
  struct Set {
    std::array<std::int32_t, kInstructionWays> available{};
    std::array<std::uint16_t, kInstructionWays> tag{};  ///< line number plus one; 0 = empty
    void make_first(std::size_t way, std::uint16_t line_tag, std::int32_t time);
  };
  Set& set_of(std::uint32_t line) {
    // Nearly always a power of two, and a division takes long.
    const std::uint32_t count = sets();
    return sets_[std::has_single_bit(count) ? line & (count - 1) : line % count];
  }

  std::vector<Set> sets_;
};

inline void InstructionLines::Set::make_first(std::size_t way, std::uint16_t line_tag, std::int32_t time) {
  // A few at most: quicker than a call that moves any number.
  for (; way > 0; --way) {
    tag[way] = tag[way - 1];
    available[way] = available[way - 1];
  }
  tag[0] = line_tag;
  available[0] = time;
}

inline std::int32_t* InstructionLines::find(std::uint32_t line) {
  Set& set = set_of(line);
  const auto tag = static_cast<std::uint16_t>(line + 1);
  std::size_t way = 0;
  while (way < kInstructionWays && set.tag[way] != tag) {
    ++way;
  }
  if (way == kInstructionWays) {
    return nullptr;
  }
  if (way > 0) {
    set.make_first(way, tag, set.available[way]);
  }
  return set.available.data();
}

inline void InstructionLines::put(std::uint32_t line, std::int32_t available) {
  set_of(line).make_first(kInstructionWays - 1, static_cast<std::uint16_t>(line + 1), available);
}

}  // namespace warpscope::sm

// Instruction fetch of SmCore: lines within reach of the sub-cores, a sequential prefetcher, and the path
// they come by.
#include <algorithm>
#include <bit>

#include "model/sm/sm_core.hpp"
#include "model/sm/sm_numbers.hpp"

namespace warpscope::sm {

std::uint32_t instruction_sets(const hw::InstructionCache& icache, std::uint32_t code_lines) {
  const auto sets = static_cast<std::uint32_t>(icache.l0_bytes / icache.line_bytes / kInstructionWays);
  const std::uint32_t needed = (code_lines + kInstructionWays - 1) / kInstructionWays;
  return std::min(sets, std::bit_ceil(needed));
}

std::int32_t SmCore::request_line(std::uint32_t line, std::int32_t time) {
  // Nearly always a power of two, and a division takes long.
  const std::uint32_t number =
      std::has_single_bit(instruction_sets_) ? line & (instruction_sets_ - 1) : line % instruction_sets_;
  InstructionSet& set = used_instruction_sets()[number];
  auto& tags = set.tag;
  auto& times = set.available;
  const auto tag = static_cast<std::uint16_t>(line + 1);
  if (tags[0] == tag) {
    return times[0];
  }
  std::size_t way = 1;
  while (way < kInstructionWays && tags[way] != tag) {
    ++way;
  }
  std::int32_t available = 0;
  if (way == kInstructionWays) {
    available = state_.fill_free =
        within_reach(std::int64_t{std::max(state_.fill_free, time)} + line_fill_cycles_);
    --way;
  } else {
    available = times[way];
  }
  // A few at most: quicker than a call that moves any number.
  for (; way > 0; --way) {
    tags[way] = tags[way - 1];
    times[way] = times[way - 1];
  }
  tags[0] = tag;
  times[0] = available;
  return available;
}

void SmCore::fetch(WarpState& warp, std::int32_t time) {
  const std::uint32_t line = code_[warp.pc].line;
  const bool sequential = warp.fetched_line != 0 && warp.fetched_line == line;
  const std::uint32_t last_line = decoded_.code.back().line;
  warp.fetched_line = line + 1;
  warp.fetch_ready = request_line(line, time);
  // In a run of lines the stream is one line longer with each step; after a jump it starts anew.
  const auto reach = static_cast<std::uint32_t>(spec_.icache.prefetch_lines);
  for (std::uint32_t ahead = sequential ? reach : 1; ahead <= reach; ++ahead) {
    if (line + ahead <= last_line) {
      request_line(line + ahead, time);
    }
  }
}

}  // namespace warpscope::sm

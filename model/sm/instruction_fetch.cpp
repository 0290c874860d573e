// Instruction fetch of SmCore: lines within reach of the sub-cores, a sequential prefetcher, and the path
// they come by.
#include <algorithm>

#include "model/sm/sm_core.hpp"

namespace warpscope::sm {
std::int32_t SmCore::request_line(std::uint32_t line, std::int32_t time) {
  InstructionCacheState& cache = state_.icache;
  const std::size_t first = line % instruction_sets_ * kInstructionWays;
  const auto tags = cache.tag.begin() + static_cast<std::ptrdiff_t>(first);
  const auto times = cache.available.begin() + static_cast<std::ptrdiff_t>(first);
  const auto tag = static_cast<std::uint16_t>(line + 1);
  if (tags[0] == tag) {
    return times[0];
  }
  const auto way = std::find(tags, tags + kInstructionWays, tag) - tags;
  std::int32_t available = 0;
  if (way == kInstructionWays) {
    available = cache.fill_free = std::max(cache.fill_free, time) + line_fill_cycles_;
  } else {
    available = times[way];
  }
  const auto last = std::min<std::ptrdiff_t>(way, kInstructionWays - 1);
  std::copy_backward(tags, tags + last, tags + last + 1);
  std::copy_backward(times, times + last, times + last + 1);
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

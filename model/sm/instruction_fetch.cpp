// Instruction fetch of SmCore: lines within reach of the sub-cores and those of the next level, a sequential
// prefetcher, and the paths that lines come by.
#include <algorithm>

#include "model/sm/sm_core.hpp"
#include "model/sm/sm_numbers.hpp"

namespace warpscope::sm {

std::int32_t SmCore::request_line(std::uint32_t line, std::int32_t time) {
  if (const std::int32_t* available = near_lines_.find(line)) {
    return *available;
  }
  // Each path brings one line behind the other.
  const auto take = [time](std::int32_t& path_free, int cycles) {
    return path_free = within_reach(std::int64_t{std::max(path_free, time)} + cycles);
  };
  std::int32_t available = take(state_.fill_free, spec_.icache.l1_fill_cycles);
  if (const std::int32_t* arrives = far_lines_.find(line)) {
    available = std::max(available, *arrives);
  } else {
    available = std::max(available, take(state_.far_fill_free, spec_.icache.l2_fill_cycles));
    far_lines_.put(line, available);
  }
  near_lines_.put(line, available);
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

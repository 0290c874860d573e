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
  const hw::InstructionCache& icache = spec_.icache;
  std::int32_t available = take(state_.fill_free, icache.l1_line_cycles);
  if (supply_ != nullptr) {
    available = std::max(available, within_reach(supply_->path_free - supply_origin_));
  }
  available = within_reach(std::int64_t{available} + icache.l1_fill_cycles - icache.l1_line_cycles);
  bool from_memory = false;
  if (const std::int32_t* arrives = far_lines_.find(line)) {
    available = std::max(available, *arrives);
  } else {
    from_memory = supply_ != nullptr && supply_->in_l2[line] > supply_origin_ + time;
    available = std::max(available, take(state_.far_fill_free,
                                         from_memory ? icache.memory_fill_cycles : icache.l2_fill_cycles));
    far_lines_.put(line, available);
  }
  near_lines_.put(line, available);
  if (supply_ != nullptr) {
    asked_lines_.push_back({time, available, line, from_memory});
  }
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

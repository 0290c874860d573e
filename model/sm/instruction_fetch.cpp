// Instruction fetch of SmCore: lines within reach of the sub-cores and those of the next level, a sequential
// prefetcher, and the paths that lines come by.
#include <algorithm>

#include "model/sm/sm_core.hpp"
#include "model/sm/sm_numbers.hpp"

namespace warpscope::sm {

std::int32_t SmCore::request_line(std::uint32_t line, std::int32_t time, std::int32_t asked) {
  const hw::InstructionCache& icache = spec_.icache;
  std::int32_t* const held = near_lines_.find(line);
  if (held != nullptr && *held <= asked + icache.l1_fill_cycles) {
    return *held;
  }
  // Each path brings one line behind the other. What is asked for later holds up nobody until then.
  const auto take = [time, asked](std::int32_t& path_free, int cycles) {
    path_free = within_reach(std::int64_t{std::max(path_free, time)} + cycles);
    return std::max(path_free, within_reach(std::int64_t{asked} + cycles));
  };
  std::int32_t available = held == nullptr ? take(state_.fill_free, icache.l1_line_cycles)
                                           : std::max(state_.fill_free, asked + icache.l1_line_cycles);
  if (supply_ != nullptr) {
    available = std::max(available, within_reach(supply_->path_free - supply_origin_));
  }
  available = within_reach(std::int64_t{available} + icache.l1_fill_cycles - icache.l1_line_cycles);
  bool from_memory = false;
  if (const std::int32_t* arrives = far_lines_.find(line)) {
    available = std::max(available, *arrives);
  } else {
    from_memory = supply_ != nullptr && supply_->in_l2[line] > supply_origin_ + asked;
    available = std::max(available, take(state_.far_fill_free,
                                         from_memory ? icache.memory_fill_cycles : icache.l2_fill_cycles));
    far_lines_.put(line, available);
  }
  if (held != nullptr) {
    // It was to be asked for later than now.
    return *held = std::min(*held, available);
  }
  near_lines_.put(line, available);
  if (supply_ != nullptr) {
    asked_lines_.push_back({asked, available, line, from_memory});
  }
  return available;
}

void SmCore::share_line(std::uint32_t line, std::int64_t arrival) {
  if (near_lines_.find(line) == nullptr) {
    near_lines_.put(line, within_reach(std::max<std::int64_t>(0, arrival)));
  }
}

void SmCore::fetch(WarpState& warp, std::int32_t time) {
  const std::uint32_t line = code_[warp.pc].line;
  const bool sequential = warp.fetched_line != 0 && warp.fetched_line == line;
  const std::uint32_t last_line = decoded_.code_lines - 1;
  warp.fetched_line = line + 1;
  warp.fetch_ready = request_line(line, time, time);
  // In a run of lines the stream is one line longer with each step; after a jump it starts anew. The lines
  // ahead are asked for when this one is there.
  const std::int32_t arrival = std::max(time, warp.fetch_ready);
  const auto reach = static_cast<std::uint32_t>(spec_.icache.prefetch_lines);
  for (std::uint32_t ahead = sequential ? reach : 1; ahead <= reach; ++ahead) {
    if (line + ahead <= last_line) {
      request_line(line + ahead, time, arrival);
    }
  }
}

}  // namespace warpscope::sm

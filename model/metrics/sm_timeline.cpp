#include "model/metrics/sm_timeline.hpp"

#include <algorithm>

namespace warpscope::metrics {

using trace::OpClass;

void SmTimeline::launch_begins(const LaunchBegin& launch, std::int64_t origin) {
  origin_ = origin;
  warps_per_cta_ = static_cast<int>(trace::warps_per_cta(*launch.launch));
  sub_cores_ = launch.sub_cores;
  code_.clear();
  for (const trace::WarpProgram& program : launch.launch->programs) {
    for (const trace::Instruction& text : program.code) {
      const trace::OpcodeInfo& fixed = trace::info(text.opcode);
      Instruction& instruction = code_.emplace_back();
      instruction.pipe = fixed.pipe;
      instruction.op_class = fixed.op_class;
      instruction.barrier = text.immediate;
      if (text.memory != trace::kNoMemory) {
        instruction.bytes = program.memory_operands[text.memory].bytes;
        instruction.tensor = program.memory_operands[text.memory].tensor;
      }
    }
  }
  last_of_warp_.fill(kNone);
  last_of_pipe_.clear();
  first_arrivals_.clear();
}

void SmTimeline::cta_begins(int slot) {
  keep_groups(slot);
  for (int warp = slot * warps_per_cta_; warp < (slot + 1) * warps_per_cta_; ++warp) {
    groups_of_warp_[static_cast<std::size_t>(warp)] = 0;
  }
}

void SmTimeline::launch_ends() {
  while (!groups_.empty()) {
    keep_groups(groups_.begin()->first.first);
  }
}

void SmTimeline::slice(std::int64_t start, std::span<const SmEvent> events) {
  for (const SmEvent& event : events) {
    const CycleSpan span{origin_ + start + event.begin, origin_ + start + event.end};
    if (spans() >= most_spans_ && span.begin < data_.sm_window.end) {
      data_.sm_window.end = std::max(span.begin, data_.sm_window.begin);
      data_.sm_stopped = true;
    }
    switch (event.kind) {
      case SmEvent::Kind::issue:
        issue(event, span);
        break;
      case SmEvent::Kind::stall:
        wait(event, span);
        break;
      case SmEvent::Kind::memory:
        memory(event, span);
        break;
      case SmEvent::Kind::copied:
        copied(event, span.end);
        break;
      case SmEvent::Kind::barrier:
        barrier(event, span);
        break;
    }
  }
}

void SmTimeline::issue(const SmEvent& event, CycleSpan span) {
  const Instruction& instruction = code_[event.pc];
  if (instruction.op_class == OpClass::barrier) {
    first_arrivals_.try_emplace({slot_of(event.warp), instruction.barrier}, span.begin);
  }
  const CycleSpan slot = CycleSpan{span.begin, span.begin + 1}.within(data_.sm_window);
  if (slot.cycles() <= 0) {
    return;
  }
  std::size_t& last = last_of_warp_[event.warp];
  if (last != kNone && data_.warps[last].instructions > 0 && data_.warps[last].pipe == instruction.pipe &&
      data_.warps[last].span.end == slot.begin) {
    data_.warps[last].span.end = slot.end;
    ++data_.warps[last].instructions;
  } else {
    last = data_.warps.size();
    data_.warps.push_back({slot, 1, event.warp, instruction.pipe, Stall::selected});
  }
  // Memory instructions take the data path later, and others no pipe that could be full.
  if (instruction.pipe <= trace::Pipe::xu) {
    take_pipe(event.warp % sub_cores_, instruction.pipe, span);
  }
}

void SmTimeline::wait(const SmEvent& event, CycleSpan span) {
  span = span.within(data_.sm_window);
  if (span.cycles() <= 0) {
    return;
  }
  const auto stall = static_cast<Stall>(event.detail);
  std::size_t& last = last_of_warp_[event.warp];
  if (last != kNone && data_.warps[last].span.end == span.begin) {
    TimelineWarp& before = data_.warps[last];
    const bool issues = before.instructions > 0;
    if (issues ? stall == Stall::wait : stall == before.stall) {
      before.span.end = span.end;
      return;
    }
  }
  last = data_.warps.size();
  data_.warps.push_back({span, 0, event.warp, trace::Pipe::control, stall});
}

void SmTimeline::memory(const SmEvent& event, CycleSpan span) {
  const Instruction& instruction = code_[event.pc];
  if (event.detail > 0) {
    take_pipe(-1, trace::Pipe::lsu, {span.begin, span.begin + event.detail});
  }
  if (instruction.op_class == OpClass::async_copy) {
    begin_copy(instruction, event.warp, span);
  } else if (instruction.op_class == OpClass::async_commit) {
    commit(event.warp);
  }
}

void SmTimeline::take_pipe(int sub_core, trace::Pipe pipe, CycleSpan span) {
  span = span.within(data_.sm_window);
  const auto [place, is_new] = last_of_pipe_.try_emplace({sub_core, pipe}, kNone);
  if (!is_new) {
    TimelinePipe& before = data_.pipes[place->second];
    span.begin = std::max(span.begin, before.span.end);
    if (before.span.end == span.begin && span.cycles() > 0) {
      before.span.end = span.end;
      ++before.instructions;
      return;
    }
  }
  if (span.cycles() > 0) {
    place->second = data_.pipes.size();
    data_.pipes.push_back({span, 1, sub_core, pipe});
  } else if (is_new) {
    last_of_pipe_.erase(place);
  }
}

void SmTimeline::begin_copy(const Instruction& instruction, int warp, CycleSpan span) {
  const int slot = slot_of(warp);
  TimelineCopy& copy = groups_[{slot, groups_of_warp_[static_cast<std::size_t>(warp)]}].copy;
  if (copy.instructions == 0) {
    copy.slot = slot;
    copy.span = span;
  }
  copy.span = {std::min(copy.span.begin, span.begin), std::max(copy.span.end, span.end)};
  ++copy.instructions;
  copy.bytes += instruction.bytes;
  copy.tensors.insert(instruction.tensor);
}

void SmTimeline::copied(const SmEvent& event, std::int64_t cycle) {
  const auto group = groups_.find({slot_of(event.warp), event.detail});
  if (group != groups_.end()) {
    CycleSpan& span = group->second.copy.span;
    span.end = std::max(span.end, cycle);
    ++group->second.arrived;
    keep_if_whole(group);
  }
}

void SmTimeline::commit(int warp) {
  const std::pair key{slot_of(warp), groups_of_warp_[static_cast<std::size_t>(warp)]++};
  const auto group = groups_.try_emplace(key).first;
  ++group->second.committed;
  keep_if_whole(group);
}

void SmTimeline::keep_if_whole(CopyGroups::iterator group) {
  const auto& [copy, committed, arrived] = group->second;
  if (committed == warps_per_cta_ && arrived == copy.instructions) {
    keep(copy);
    groups_.erase(group);
  }
}

void SmTimeline::keep(const TimelineCopy& copy) {
  if (copy.instructions > 0 && copy.span.overlaps(data_.sm_window)) {
    data_.copies.push_back(copy);
  }
}

void SmTimeline::keep_groups(int slot) {
  const auto first = groups_.lower_bound({slot, 0});
  const auto last = groups_.lower_bound({slot + 1, 0});
  std::for_each(first, last, [&](const auto& group) { keep(group.second.copy); });
  groups_.erase(first, last);
}

void SmTimeline::barrier(const SmEvent& event, CycleSpan span) {
  const int slot = slot_of(event.warp);
  const auto arrival = first_arrivals_.find({slot, event.detail});
  if (arrival != first_arrivals_.end()) {
    span.begin = arrival->second;
    first_arrivals_.erase(arrival);
  }
  if (span.overlaps(data_.sm_window)) {
    data_.barriers.push_back({span, slot, event.detail});
  }
}

}  // namespace warpscope::metrics

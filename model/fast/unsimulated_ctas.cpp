#include "model/fast/unsimulated_ctas.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "model/fast/echo.hpp"
#include "model/sm/sm_core.hpp"

namespace warpscope::fast {

UnsimulatedCtas::UnsimulatedCtas(const trace::Trace& trace, const trace::Launch& launch,
                                 sm::DecodedLaunch decoded, int cta_slots)
    : trace_(&trace),
      launch_(&launch),
      decoded_(std::move(decoded)),
      cta_slots_(cta_slots),
      demand_(trace.tensors.size()) {}

std::optional<UnsimulatedCtas> UnsimulatedCtas::of(const hw::HwConfig& config, const trace::Trace& trace,
                                                   const trace::Launch& launch, int cta_slots) {
  UnsimulatedCtas result(trace, launch, sm::decode(config, trace, launch), cta_slots);
  for (const trace::CtaClass& cta_class : launch.classes) {
    if (!result.outlines_.contains(cta_class.program_of_warp)) {
      std::optional<CtaOutline> outline = outline_of(trace, result.decoded_, cta_class);
      if (!outline) {
        return std::nullopt;
      }
      result.outlines_.emplace(cta_class.program_of_warp, *std::move(outline));
    }
  }
  return result;
}

void UnsimulatedCtas::observe(double instructions, double cta_cycles) {
  observed_instructions_ += instructions;
  observed_cycles_ += cta_cycles;
}

void UnsimulatedCtas::begin(std::uint64_t cta, const FreeSlot& slot) {
  Cta next;
  next.cta.block = trace::block_of(*launch_, cta);
  const auto& [x, y, z] = next.cta.block;
  next.cta.cta_class = &launch_->classes[trace::class_of(*launch_, x, y, z)];
  next.outline = &outlines_.at(next.cta.cta_class->program_of_warp);
  next.place = slot;
  next.next = now_ - slot.for_instructions;
  ctas_.push_back(next);
}

void UnsimulatedCtas::access(const Cta& cta, const OutlineAccess& access) {
  const trace::MemoryOperand& operand = decoded_.memory_operands[access.operand];
  const sm::Address base = sm::base_address(operand, cta.cta, cta.loops.iteration[0]);
  sm::MemoryRequest request;
  request.asked.segment = access.spilled ? std::int64_t{cta.place.sm} * cta_slots_ + cta.place.slot
                                         : base.segment + sm::moved_by(operand.segment, cta.loops);
  request.asked.offset = base.offset + access.offset + sm::moved_by(operand.offset, cta.loops);
  sm::clip(request, trace_->tensors[operand.tensor], static_cast<std::uint32_t>(access.bytes));
  demand_[operand.tensor].add(access.kind, request.offset, request.bytes,
                              static_cast<std::uint64_t>(access.bytes), 0, 1);
  if (request.bytes == 0) {
    return;
  }
  memory::Access made;
  made.sm = static_cast<std::uint16_t>(cta.place.sm);
  made.tensor = operand.tensor;
  made.kind = access.kind;
  made.segment = request.segment;
  made.offset = request.offset;
  made.bytes = request.bytes;
  made.lines = static_cast<int>(access.lines);
  due_.push_back(made);
}

bool UnsimulatedCtas::ends(Cta& cta, sim::Cycles now) {
  for (; cta.step < cta.outline->size(); ++cta.step) {
    const OutlineStep& step = (*cta.outline)[cta.step];
    const std::size_t depth = step.loop.depth;
    std::uint32_t& iteration = cta.loops.iteration[depth];
    std::uint32_t& trips = cta.loops.trips[depth];
    if (step.kind == OutlineStep::Kind::straight) {
      if (cta.next > now_) {
        return false;
      }
      for (const OutlineAccess& of_step : step.accesses) {
        if (!of_step.spilled || cta.spills) {
          access(cta, of_step);
        }
      }
      cta.next += static_cast<double>(step.instructions);
    } else if (step.kind == OutlineStep::Kind::loop_begins) {
      trips = sm::trips_of(step.loop, *cta.cta.cta_class, cta.loops);
      iteration = 0;
      cta.step = trips == 0 ? step.other : cta.step;
    } else if (iteration + 1 < trips) {
      ++iteration;
      cta.step = step.other;
      // What an iteration spills may stand behind loops in it.
      if (depth == 0) {
        cta.spills = now - cta.spilled >= kSpillsStayCycles;
        cta.spilled = cta.spills ? now : cta.spilled;
      }
    } else {
      iteration = trips = 0;
    }
  }
  return cta.next <= now_;
}

std::vector<FreeSlot> UnsimulatedCtas::advance(sim::Cycles now, memory::MemorySystem& memory) {
  const auto cycles = static_cast<double>(now - std::exchange(advanced_, now));
  if (observed_cycles_ > 0) {
    now_ += cycles * std::exchange(observed_instructions_, 0) / std::exchange(observed_cycles_, 0);
  }
  std::vector<FreeSlot> ended;
  std::erase_if(ctas_, [&](Cta& cta) {
    if (!ends(cta, now)) {
      return false;
    }
    cta.place.for_instructions = now_ - cta.next;
    ended.push_back(cta.place);
    return true;
  });
  std::ranges::stable_sort(ended, std::ranges::greater{}, &FreeSlot::for_instructions);
  memory.touch(due_, now);
  due_.clear();
  return ended;
}

void UnsimulatedCtas::finish(sim::Cycles now, memory::MemorySystem& memory) {
  now_ = std::numeric_limits<double>::infinity();
  advance(now, memory);
}

}  // namespace warpscope::fast

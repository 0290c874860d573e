#include "model/fast/cta_outline.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace warpscope::fast {
namespace {

using Kind = OutlineStep::Kind;

/// Of one warp in one step: a longer piece would make its accesses long before it comes to them. A CTA takes
/// about as long for so many as memory waits to be told of them (kBackgroundCycles).
constexpr std::uint64_t kMostInstructions = 128;

void join(std::vector<OutlineAccess>& accesses, const std::vector<trace::MemoryOperand>& operands) {
  const auto way = [](const trace::AffineIndex& index) {
    return std::tie(index.per_block, index.block_divisor, index.symbol, index.per_symbol,
                    index.per_iteration);
  };
  const auto place = [&](const OutlineAccess& access) {
    const trace::MemoryOperand& operand = operands[access.operand];
    return std::tuple(access.kind, operand.tensor, operand.segment.offset, way(operand.segment),
                      way(operand.offset));
  };
  const auto first_byte = [&](const OutlineAccess& access) {
    return operands[access.operand].offset.offset + access.offset;
  };
  std::ranges::stable_sort(accesses, [&](const OutlineAccess& a, const OutlineAccess& b) {
    return std::tuple(place(a), first_byte(a)) < std::tuple(place(b), first_byte(b));
  });
  std::vector<OutlineAccess> joined;
  for (const OutlineAccess& access : accesses) {
    if (!joined.empty() && place(joined.back()) == place(access) &&
        first_byte(joined.back()) + joined.back().bytes == first_byte(access)) {
      joined.back().bytes += access.bytes;
      joined.back().lines += access.lines;
    } else {
      joined.push_back(access);
    }
  }
  accesses = std::move(joined);
}

/// That of one warp.
CtaOutline outline_of(const trace::Trace& trace, const sm::DecodedLaunch& decoded, std::size_t program,
                      std::uint32_t warp) {
  const std::uint32_t begin = decoded.program_begin[program];
  const std::uint32_t end = program + 1 < decoded.program_begin.size()
                                ? decoded.program_begin[program + 1]
                                : static_cast<std::uint32_t>(decoded.code.size());
  std::vector<sm::DecodedLoop> loops;
  std::ranges::copy_if(decoded.loops, std::back_inserter(loops),
                       [&](const sm::DecodedLoop& loop) { return loop.begin >= begin && loop.begin < end; });
  std::ranges::sort(loops, {}, &sm::DecodedLoop::depth);
  CtaOutline outline(1);
  std::vector<std::size_t> open;
  for (std::uint32_t pc = begin; pc < end; ++pc) {
    for (const sm::DecodedLoop& loop : loops) {
      if (loop.begin == pc) {
        open.push_back(outline.size());
        outline.push_back({.kind = Kind::loop_begins, .accesses = {}, .loop = loop});
        outline.emplace_back();
      }
    }
    if (outline.back().instructions == kMostInstructions) {
      outline.emplace_back();
    }
    OutlineStep& straight = outline.back();
    ++straight.instructions;
    const sm::DecodedInstruction& instruction = decoded.code[pc];
    if (sm::leaves_sm(instruction)) {
      const trace::MemoryOperand& operand = decoded.memory_operands[instruction.memory];
      straight.accesses.push_back({sm::access_kind(instruction.op_class),
                                   trace.tensors[operand.tensor].kind == trace::TensorKind::local,
                                   instruction.memory, operand.offset.per_warp * warp, operand.bytes,
                                   operand.lines});
    }
    while (!open.empty() && outline[open.back()].loop.end == pc + 1) {
      const std::size_t begun = open.back();
      open.pop_back();
      outline[begun].other = outline.size();
      outline.push_back(
          {.kind = Kind::loop_ends, .accesses = {}, .loop = outline[begun].loop, .other = begun});
      outline.emplace_back();
    }
  }
  return outline;
}

bool alike(const CtaOutline& a, const CtaOutline& b) {
  return std::ranges::equal(a, b, [](const OutlineStep& x, const OutlineStep& y) {
    return x.kind == y.kind && x.loop.trip_slot == y.loop.trip_slot &&
           x.loop.trips_per_iteration == y.loop.trips_per_iteration;
  });
}

}  // namespace

std::optional<CtaOutline> outline_of(const trace::Trace& trace, const sm::DecodedLaunch& decoded,
                                     const trace::CtaClass& cta_class) {
  CtaOutline result = outline_of(trace, decoded, cta_class.program_of_warp[0], 0);
  for (std::uint32_t warp = 1; warp < decoded.warps_per_cta; ++warp) {
    const CtaOutline other = outline_of(trace, decoded, cta_class.program_of_warp[warp], warp);
    if (!alike(result, other)) {
      return std::nullopt;
    }
    for (std::size_t i = 0; i < result.size(); ++i) {
      result[i].instructions += other[i].instructions;
      result[i].accesses.insert(result[i].accesses.end(), other[i].accesses.begin(), other[i].accesses.end());
    }
  }
  for (OutlineStep& step : result) {
    join(step.accesses, decoded.memory_operands);
  }
  return result;
}

}  // namespace warpscope::fast

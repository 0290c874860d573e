#include "model/fast/loop_footprint.hpp"

#include <algorithm>
#include <tuple>

#include "model/memory/block_cache.hpp"

namespace warpscope::fast {
namespace {

auto order(const Stretch& s) {
  return std::tuple(s.kind, s.tensor, s.begin.segment, s.step.segment, s.step.offset, s.begin.offset);
}

/// Accesses that meet within a sector count it both, so they stay apart.
bool continues(const Stretch& first, const Stretch& second) {
  const bool whole_sectors = second.begin.offset % memory::kSectorBytes == 0 &&
                             second.step.offset % memory::kSectorBytes == 0 && second.runs->whole_sectors;
  return whole_sectors && first.kind == second.kind && first.tensor == second.tensor &&
         first.step == second.step && first.begin.segment == second.begin.segment &&
         first.begin.offset + first.bytes == second.begin.offset && first.runs == second.runs;
}

}  // namespace

int innermost_loop(const sm::DecodedLaunch& decoded, std::uint32_t pc) {
  int found = -1;
  for (std::size_t i = 0; i < decoded.loops.size(); ++i) {
    const sm::DecodedLoop& loop = decoded.loops[i];
    if (loop.begin <= pc && pc < loop.end &&
        (found < 0 || loop.depth > decoded.loops[static_cast<std::size_t>(found)].depth)) {
      found = static_cast<int>(i);
    }
  }
  return found;
}

std::vector<Stretch> loop_footprint(const sm::SmCore& core, const sm::DecodedLaunch& decoded,
                                    const std::vector<int>& loops, int slot, MemberAccesses& accesses) {
  std::vector<Stretch> single;
  for (std::size_t w = 0; w < loops.size(); ++w) {
    const int warp = slot * static_cast<int>(decoded.warps_per_cta) + static_cast<int>(w);
    const sm::DecodedLoop& loop = decoded.loops[static_cast<std::size_t>(loops[w])];
    const std::uint32_t at = core.state().warps[static_cast<std::size_t>(warp)].pc;
    for (std::uint32_t pc = loop.begin; pc < loop.end; ++pc) {
      const sm::DecodedInstruction& instruction = decoded.code[pc];
      if (!sm::leaves_sm(instruction)) {
        continue;
      }
      const trace::MemoryOperand& operand = decoded.memory_operands[instruction.memory];
      const sm::MemoryRequest request = core.request(
          instruction.memory, sm::access_kind(instruction.op_class), warp, core.loop_counters_of(warp));
      Stretch stretch{request.kind,
                      request.tensor,
                      request.asked,
                      operand.bytes,
                      {operand.segment.per_iteration[loop.depth], operand.offset.per_iteration[loop.depth]},
                      operand.lines,
                      &accesses.runs(slot, instruction.memory, request.asked.offset, request.turn)};
      if (pc < at) {  // done already in this iteration
        stretch.begin.segment += stretch.step.segment;
        stretch.begin.offset += stretch.step.offset;
      }
      single.push_back(stretch);
    }
  }
  std::ranges::stable_sort(single, [](const Stretch& a, const Stretch& b) { return order(a) < order(b); });
  std::vector<Stretch> joined;
  for (const Stretch& stretch : single) {
    if (!joined.empty() && continues(joined.back(), stretch)) {
      joined.back().bytes += stretch.bytes;
      joined.back().lines += stretch.lines;
    } else {
      joined.push_back(stretch);
    }
  }
  return joined;
}

}  // namespace warpscope::fast

// Executes the control flow of a warp program: which instructions a warp runs, in which iterations, and where
// its memory operands point.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "model/trace/launch.hpp"

namespace warpscope::tests {

struct WarpPosition {
  std::array<std::uint32_t, 3> block{};
  std::uint32_t warp = 0;
};

/// One executed instruction and the iterations of the loops around it.
struct Step {
  std::uint32_t index = 0;
  std::array<std::int64_t, trace::kMaxLoopDepth> iteration{};
};

inline std::int64_t evaluate(const trace::AffineIndex& index, const WarpPosition& position, const Step& step,
                             const trace::CtaClass& cta_class) {
  std::int64_t value = index.offset + index.per_warp * position.warp;
  for (std::size_t d = 0; d < 3; ++d) {
    value += index.per_block[d] * (static_cast<std::int64_t>(position.block[d]) / index.block_divisor[d]);
  }
  for (std::size_t k = 0; k < index.per_iteration.size(); ++k) {
    value += index.per_iteration[k] * step.iteration[k];
  }
  if (index.symbol != trace::kNoSymbol) {
    const std::int64_t turn = index.symbol_table ? step.iteration[0] : 0;
    value += index.per_symbol * cta_class.symbols.at(static_cast<std::size_t>(index.symbol + turn));
  }
  return value;
}

/// Calls `visit` for every instruction that a warp of `cta_class` executes, at most `most_trips` trips per
/// loop.
inline void walk(const trace::WarpProgram& program, const trace::CtaClass& cta_class, std::int64_t most_trips,
                 const std::function<void(const Step&)>& visit) {
  // Runs [begin, end) inside `depth` loops, of which the first not yet entered is number `next_loop`.
  const std::function<void(std::uint32_t, std::uint32_t, std::size_t, std::size_t, Step)> run =
      [&](std::uint32_t begin, std::uint32_t end, std::size_t next_loop, std::size_t depth, Step step) {
        for (std::uint32_t i = begin; i < end; ++i) {
          const bool enters = next_loop < program.loops.size() && program.loops[next_loop].begin == i &&
                              program.loops[next_loop].end <= end;
          if (!enters) {
            step.index = i;
            visit(step);
            continue;
          }
          const trace::Loop& loop = program.loops[next_loop];
          std::int64_t trips = cta_class.trip_counts.at(loop.trip_slot);
          for (std::size_t k = 0; k < depth; ++k) {
            trips += loop.trips_per_iteration[k] * step.iteration[k];
          }
          for (std::int64_t trip = 0; trip < trips && trip < most_trips; ++trip) {
            Step inner = step;
            inner.iteration[depth] = trip;
            run(loop.begin, loop.end, next_loop + 1, depth + 1, inner);
          }
          while (next_loop < program.loops.size() && program.loops[next_loop].begin < loop.end) {
            ++next_loop;
          }
          i = loop.end - 1;
        }
      };
  run(0, static_cast<std::uint32_t>(program.code.size()), 0, 0, {});
}

}  // namespace warpscope::tests

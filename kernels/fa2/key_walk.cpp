#include "kernels/fa2/key_walk.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "kernels/unsupported.hpp"

namespace warpscope::kernels::fa2 {
namespace {

// A walk has level blocks, all of whose queries see the keys, then falling ones, each of which has fewer
// steps than the one before. Where no walk has both, there is one loop, as in the source.
enum Slot : int { kLevelBlocks, kLevelSteps, kFallingBlocks, kFallingSteps };
constexpr int kLevelKeyBlocks = 0;  // class symbol: key blocks from the first to the first falling one

struct Walk {
  std::int64_t level = 0;
  std::int64_t falling = 0;
  std::int64_t first_falling_steps = 0;
};

/// Steps that a falling block has less than the one before.
std::int64_t fall(const BackwardShape& shape) {
  return shape.problem.causal ? shape.splits * shape.tile.keys / shape.tile.rows : 0;
}

Walk walk_of(const BackwardShape& shape, std::int64_t cta) {
  std::vector<std::int64_t> steps;
  for (std::int64_t n = cta; n < shape.key_blocks(); n += shape.splits) {
    steps.push_back(steps_of_key_block(shape, n));
  }
  if (steps.empty()) {
    return {};
  }
  // From the back: as long as each block has `fall` steps more than the one behind it.
  std::size_t first = steps.size() - 1;
  while (first > 0 && steps[first - 1] == steps[first] + fall(shape)) {
    --first;
  }
  return {static_cast<std::int64_t>(first), static_cast<std::int64_t>(steps.size() - first), steps[first]};
}

bool has_level_blocks(const BackwardShape& shape) {
  for (std::int64_t cta = 0; cta < shape.splits; ++cta) {
    if (walk_of(shape, cta).level > 0) {
      return true;
    }
  }
  return false;
}

// Else blocks of one walk differ by turns.
void require_even_fall(const BackwardShape& shape) {
  const BackwardTile& tile = shape.tile;
  if (shape.problem.causal && shape.splits * tile.keys % tile.rows != 0) {
    throw UnsupportedProblem("fa2 with a causal mask is modelled as deterministic where CTAs go " +
                             std::to_string(tile.rows) + " keys at a time or a multiple; here " +
                             std::to_string(shape.splits) + " CTAs of each head have " +
                             std::to_string(tile.keys) + " keys each");
  }
}

}  // namespace

std::int64_t grad_q_splits(const Problem& problem, int sm_count) {
  const std::int64_t heads = problem.batch * problem.heads;
  return (sm_count + heads - 1) / heads;
}

std::int64_t steps_of_key_block(const BackwardShape& shape, std::int64_t n) {
  const Problem& problem = shape.problem;
  std::int64_t first = 0;
  if (problem.causal) {
    const std::int64_t first_query = n * shape.tile.keys + problem.seqlen_q - problem.seqlen_k;
    first = first_query > 0 ? first_query / shape.tile.rows : 0;
  }
  return shape.query_blocks() - first;
}

void add_walk_grid(LaunchPlan& launch, const BackwardShape& shape) {
  require_even_fall(shape);
  launch.grid = {static_cast<std::uint32_t>(shape.splits), static_cast<std::uint32_t>(shape.problem.batch),
                 static_cast<std::uint32_t>(shape.problem.heads)};
  for (std::int64_t cta = 0; cta < shape.splits; ++cta) {
    const Walk walk = walk_of(shape, cta);
    const PlanClass wanted{
        0,
        {static_cast<std::uint32_t>(walk.level), static_cast<std::uint32_t>(shape.query_blocks()),
         static_cast<std::uint32_t>(walk.falling), static_cast<std::uint32_t>(walk.first_falling_steps)},
        {walk.level * shape.splits}};
    const auto found = std::ranges::find_if(launch.classes, [&](const PlanClass& other) {
      return other.trip_counts == wanted.trip_counts && other.symbols == wanted.symbols;
    });
    launch.class_of_block[0].push_back(static_cast<std::uint32_t>(found - launch.classes.begin()));
    if (found == launch.classes.end()) {
      launch.classes.push_back(wanted);
    }
  }
}

void walk_key_blocks(CtaMachine& machine, const BackwardShape& shape,
                     const std::function<void(const Affine& block, const Trips& steps)>& body) {
  const bool has_level = has_level_blocks(shape);
  if (has_level) {
    machine.loop(kLevelBlocks, [&](const Affine& iteration) {
      body(block_index(0) + iteration * shape.splits, kLevelSteps);
    });
  }
  machine.loop(kFallingBlocks, [&](const Affine& iteration) {
    Trips steps(kFallingSteps);
    steps.per_loop[0] = static_cast<std::int32_t>(-fall(shape));
    const Affine before = has_level ? class_symbol(kLevelKeyBlocks) : Affine(0);
    body(block_index(0) + before + iteration * shape.splits, steps);
  });
}

}  // namespace warpscope::kernels::fa2

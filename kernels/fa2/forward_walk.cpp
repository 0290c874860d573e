#include "kernels/fa2/forward_walk.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "kernels/fa2/sequence_lengths.hpp"

namespace warpscope::kernels::fa2 {
namespace {

// The symbols of a CTA class: last key blocks, where the walks backwards start. Those of sequences of their
// own lengths (sequence_lengths.hpp) follow the first.
constexpr int kLastBlock = 0;
constexpr int kLastBlockOfSecond = 1;
static_assert(kLastBlock < kRowsBefore);
constexpr int kBeyond = 2;  // program

/// Trip slots of a query block with n key blocks: the iterations after the masking steps, then for j = 1, 2,
/// ... whether n > j.
int slots_per_query_block(const ForwardShape& shape) {
  return 1 + shape.masking_steps;
}

int has_more_than(const QueryBlock& queries, int blocks) {
  return queries.first_slot + blocks;
}

// A CTA that walks over several query blocks: the first stands apart, since only there an iteration may be
// missing; then come the slot of the loop over the others and the slots of its body.
int loop_slot(const ForwardShape& shape) {
  return slots_per_query_block(shape);
}

std::int64_t divide_up(std::int64_t value, std::int64_t divisor) {
  return (value + divisor - 1) / divisor;
}

// How far the last key block moves from one query block of a CTA to its next.
std::int64_t key_blocks_between(const ForwardShape& shape) {
  return shape.problem.causal && shape.options.skip_masked
             ? std::int64_t{shape.ctas_per_head} * shape.tile.rows / shape.tile.keys
             : 0;
}

// Behind the last key block that query block `m` visits.
std::int64_t key_blocks(const ForwardShape& shape, std::int64_t m) {
  const Problem& problem = shape.problem;
  std::int64_t blocks = divide_up(problem.seqlen_k, shape.tile.keys);
  if ((problem.causal && shape.options.skip_masked) || shape.has_window()) {
    const std::int64_t last_key = (m + 1) * shape.tile.rows + problem.seqlen_k - problem.seqlen_q +
                                  std::max<std::int64_t>(0, problem.window.right);
    blocks = std::min(blocks, last_key > 0 ? divide_up(last_key, shape.tile.keys) : 0);
  }
  return blocks;
}

// The first key block that query block `m` visits.
std::int64_t first_key_block(const ForwardShape& shape, std::int64_t m) {
  if (!shape.has_window()) {
    return 0;
  }
  const Problem& problem = shape.problem;
  const std::int64_t first_key =
      m * shape.tile.rows + problem.seqlen_k - problem.seqlen_q - problem.window.left;
  return std::max<std::int64_t>(0, first_key) / shape.tile.keys;
}

void add_trips(PlanClass& target, const ForwardShape& shape, std::int64_t blocks) {
  target.trip_counts.push_back(
      static_cast<std::uint32_t>(std::max<std::int64_t>(0, blocks - shape.masking_steps)));
  for (int step = 1; step <= shape.masking_steps; ++step) {
    target.trip_counts.push_back(blocks > step ? 1 : 0);
  }
}

/// Of CTAs that visit `blocks` key blocks and begin behind the block with number `end` - 1.
PlanClass class_of(const ForwardShape& shape, std::int64_t blocks, std::int64_t end) {
  if (blocks <= 0) {
    return {1, {}, {}};
  }
  PlanClass result;
  result.symbols = {end - 1};
  add_trips(result, shape, blocks);
  return result;
}

PlanClass class_of(const ForwardShape& shape, std::int64_t blocks) {
  return class_of(shape, blocks, blocks);
}

// A class for every part of the keys, and for every query block whose walk or number of queries differs.
void add_divided_keys(LaunchPlan& launch, const ForwardShape& shape) {
  constexpr int kProgramsPerKind = 2;
  launch.grid = {static_cast<std::uint32_t>(shape.query_blocks()), static_cast<std::uint32_t>(shape.splits),
                 static_cast<std::uint32_t>(shape.problem.batch * shape.problem.heads)};
  const std::int64_t part =
      divide_up(divide_up(shape.problem.seqlen_k, shape.tile.keys), shape.splits);  // key blocks
  for (std::int64_t m = 0; m < shape.query_blocks(); ++m) {
    const bool last = m + 1 == shape.query_blocks();
    if (m == 0 || last || shape.problem.causal) {
      const std::int64_t all = key_blocks(shape, m);
      for (std::int64_t split = 0; split < shape.splits; ++split) {
        const std::int64_t end = std::min(all, (split + 1) * part);
        PlanClass one = class_of(shape, end - split * part, end);
        one.program += last ? kProgramsPerKind : 0;
        launch.classes.push_back(std::move(one));
      }
    }
    launch.class_of_block[0].push_back(static_cast<std::uint32_t>(launch.classes.size()) - launch.grid[1]);
  }
  for (std::uint32_t split = 0; split < launch.grid[1]; ++split) {
    launch.class_of_block[1].push_back(split);
  }
}

void add_cta_per_query_block(LaunchPlan& launch, const ForwardShape& shape) {
  launch.grid[0] = static_cast<std::uint32_t>(shape.query_blocks());
  std::vector<std::pair<std::int64_t, std::int64_t>> ranges;  // key blocks of each class
  for (std::int64_t x = 0; x < launch.grid[0]; ++x) {
    const std::int64_t m = shape.options.longest_first ? launch.grid[0] - 1 - x : x;
    const std::pair range = {first_key_block(shape, m), key_blocks(shape, m)};
    // Neighbours are alike, or none are: the latest class is the likeliest.
    const auto found = std::ranges::find(ranges.rbegin(), ranges.rend(), range);
    launch.class_of_block[0].push_back(static_cast<std::uint32_t>(
        found == ranges.rend() ? ranges.size() : static_cast<std::size_t>(ranges.rend() - found - 1)));
    if (found == ranges.rend()) {
      ranges.push_back(range);
      launch.classes.push_back(class_of(shape, range.second - range.first, range.second));
    }
  }
}

/// CTAs of `shape`, whose one sequence ends before the launch's grid does.
void add_sequence(LaunchPlan& launch, const ForwardShape& shape, std::int64_t longest) {
  for (std::int64_t m = 0; m < launch.grid[0]; ++m) {
    const std::int64_t first = first_key_block(shape, m);
    const std::int64_t end =
        std::min(key_blocks(shape, m), divide_up(shape.problem.seqlen_k, shape.tile.keys));
    const bool beyond = m >= shape.query_blocks();
    PlanClass one = beyond ? PlanClass{kBeyond, {}, {0}} : class_of(shape, end - first, end);
    add_length_symbols(one, shape.problem.seqlen_k, longest, (end - 1) * shape.tile.keys);
    launch.classes.push_back(std::move(one));
  }
}

// A class for every block of queries in sequences of each length.
void add_sequences(LaunchPlan& launch, const ForwardShape& shape) {
  launch.grid[0] = static_cast<std::uint32_t>(shape.query_blocks());
  for (std::uint32_t m = 0; m < launch.grid[0]; ++m) {
    launch.class_of_block[0].push_back(m);
  }
  std::map<std::int64_t, std::uint32_t> first_class;  // by length
  for (const std::int64_t length : shape.problem.seqlens) {
    const auto [known, is_new] =
        first_class.try_emplace(length, static_cast<std::uint32_t>(launch.classes.size()));
    if (is_new) {
      ForwardShape own = shape;
      own.problem.seqlen_q = own.problem.seqlen_k = length;
      add_sequence(launch, own, shape.problem.seqlen_q);
    }
    launch.class_of_block[1].push_back(known->second);
  }
}

void add_ctas_per_head(LaunchPlan& launch, const ForwardShape& shape) {
  launch.grid[0] = static_cast<std::uint32_t>(shape.ctas_per_head);
  for (std::int64_t x = 0; x < shape.ctas_per_head; ++x) {
    const std::int64_t z = shape.options.longest_first ? shape.ctas_per_head - 1 - x : x;
    PlanClass result = class_of(shape, key_blocks(shape, z));
    const std::int64_t others = (shape.query_blocks() - 1 - z) / shape.ctas_per_head;
    const std::int64_t second = key_blocks(shape, z) + key_blocks_between(shape);
    result.symbols.push_back(second - 1);
    result.trip_counts.push_back(static_cast<std::uint32_t>(others));
    add_trips(result, shape, second);
    launch.class_of_block[0].push_back(static_cast<std::uint32_t>(launch.classes.size()));
    launch.classes.push_back(std::move(result));
  }
}

}  // namespace

void walk_query_blocks(CtaMachine& machine, const ForwardShape& shape,
                       const std::function<void(const QueryBlock&)>& body) {
  Affine block = block_index(0);
  if (shape.options.longest_first) {
    const std::int64_t ctas = shape.ctas_per_head > 0 ? shape.ctas_per_head : shape.query_blocks();
    block = block_index(0) * -1 + (ctas - 1);
  }
  const Affine last = class_symbol(kLastBlock);
  body({block, last, shape.has_lengths() ? class_symbol(kLastKeys) : last * shape.tile.keys, 0, 0});
  if (shape.ctas_per_head == 0) {
    return;
  }
  machine.loop(loop_slot(shape), [&](const Affine& iteration) {
    machine.barrier();  // everybody is done with the output that went through shared memory
    const int first_slot = loop_slot(shape) + 1;
    const std::int64_t step = key_blocks_between(shape);
    Trips main_loop(first_slot);
    main_loop.per_loop[0] = static_cast<std::int32_t>(step);
    const Affine last_of_second = class_symbol(kLastBlockOfSecond) + iteration * step;
    body({block + (iteration + 1) * shape.ctas_per_head, last_of_second, last_of_second * shape.tile.keys,
          first_slot, main_loop});
  });
}

void walk_key_blocks(CtaMachine& machine, const ForwardShape& shape, const QueryBlock& queries,
                     const std::function<void(const KeyStep&)>& body) {
  for (int step = 0; step < shape.masking_steps; ++step) {
    const auto visit = [&] {
      body({queries.last_key_block - step, queries.last_keys - step * shape.tile.keys,
            step == 0 ? kFirst : kMasking, [&](const std::function<void()>& then) {
              machine.when(has_more_than(queries, step + 1), then);
            }});
    };
    if (step == 0) {
      visit();
    } else {
      machine.when(has_more_than(queries, step), visit);
    }
  }
  machine.loop(queries.main_loop, [&](const Affine& iteration) {
    const Affine back = iteration + shape.masking_steps;
    body({queries.last_key_block - back, queries.last_keys - back * shape.tile.keys, kSteady,
          [&](const std::function<void()>& then) { machine.unless_last(then); }});
  });
}

bool is_masked(const ForwardShape& shape, const KeyStep& step) {
  // Blocks wholly beyond the mask take it too where they are not skipped.
  const bool everywhere = !shape.options.mask_at_edge || shape.has_window() ||
                          (shape.problem.causal && !shape.options.skip_masked);
  return everywhere || (step.iteration != kSteady && (shape.problem.causal || !shape.even));
}

void add_grid(LaunchPlan& launch, const ForwardShape& shape) {
  if (shape.divides_keys()) {
    add_divided_keys(launch, shape);
    return;
  }
  launch.grid = {0, static_cast<std::uint32_t>(shape.problem.batch),
                 static_cast<std::uint32_t>(shape.problem.heads)};
  if (shape.ctas_per_head > 0) {
    add_ctas_per_head(launch, shape);
  } else if (shape.has_lengths()) {
    add_sequences(launch, shape);
  } else {
    add_cta_per_query_block(launch, shape);
  }
}

}  // namespace warpscope::kernels::fa2

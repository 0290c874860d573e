#include "kernels/fa1/walk.hpp"

#include <algorithm>

namespace warpscope::kernels::fa1 {
namespace {

// One appearance of the key-block text where query steps are interleaved.
void interleaved_block(CtaMachine& m, const Config& config, const Schedule& schedule, bool causal,
                       const KeyBlock& block, const Affine& period, const Visitor& visitor) {
  const auto blocks_per_period = static_cast<std::int64_t>(schedule.period.size());
  const Affine first_key = (period * blocks_per_period + block.number) * config.block_keys;
  const Affine shift = period * (schedule.steps_per_period * config.step_rows);
  const Affine diagonal_row = class_symbol(block.diagonal_symbol) * config.step_rows + shift;
  const Affine below_row = class_symbol(block.below_symbol) * config.step_rows + shift;
  const bool has_diagonal = causal || block.last;
  visitor.key_block({first_key, has_diagonal ? diagonal_row : below_row, block.first});

  const auto run_steps = [&](const Trips& trips, const Affine& first_row, const Affine& first_buffer,
                             bool is_final) {
    m.loop(trips, [&](const Affine& iteration) {
      const std::int64_t stride = std::int64_t{config.num_splits} * config.step_rows;
      const Affine row = first_row + iteration * stride;
      // A step taller than a key block meets the diagonal in more than its last one.
      const bool at_edge = is_final || (causal && config.step_rows > config.block_keys);
      visitor.step({row, row + stride, first_buffer + iteration, first_key, block.first, is_final, at_edge});
    });
  };
  // The source decides step by step whether rows are final; the final ones come first, so two loops of one
  // text execute the same instructions.
  if (has_diagonal) {
    run_steps(block.diagonal_slot, diagonal_row, 0, true);
  }
  if (!block.last) {
    Trips below(block.below_slot);
    if (block.repeats) {
      below.per_loop[0] = schedule.trips_per_period;
    }
    run_steps(below, below_row, has_diagonal ? class_symbol(block.parity_symbol) : Affine(0), false);
  }
  if (visitor.end_of_key_block) {
    visitor.end_of_key_block();
  }
}

// Trip slots of a chunk with n key blocks, of which the last e are cut by the mask or the end of the keys.
enum ChunkSlot : int { kOnlyBlock, kFirstAtEdge, kFirstWithin, kWithin, kSteps, kEdges };
constexpr int kBlocks = 0;  // symbol: n

int edge_blocks(const Config& config, bool causal) {
  return causal ? std::max(1, config.chunk_rows() / config.block_keys) : 1;
}

PlanClass chunk_class(const Config& config, bool causal, int blocks, int steps) {
  const int edges = edge_blocks(config, causal);
  PlanClass result;
  result.symbols = {blocks};
  result.trip_counts = {
      blocks == 1 ? 1U : 0U, blocks > 1 && blocks <= edges ? 1U : 0U, blocks > 1 && blocks > edges ? 1U : 0U,
      static_cast<std::uint32_t>(std::max(0, blocks - edges - 1)), static_cast<std::uint32_t>(steps)};
  for (int e = edges; e >= 1; --e) {
    result.trip_counts.push_back(blocks - e >= 1 ? 1 : 0);
  }
  return result;
}

}  // namespace

bool is_masked(const Config& config, const Problem& problem, const Step& step) {
  // Blocks wholly beyond the mask take it too where they are not skipped.
  const bool everywhere = !config.options.mask_at_edge || (problem.causal && !config.options.skip_masked);
  const bool is_cut = problem.causal || problem.seqlen_k % config.block_keys != 0;
  return everywhere || (step.at_edge && is_cut);
}

void walk_interleaved(CtaMachine& m, const Config& config, const Schedule& schedule, bool causal,
                      const Visitor& visitor) {
  const auto if_it_has_rows = [&](const KeyBlock& block, const Affine& period, Code code) {
    m.when(
        block.exists_slot, [&] { interleaved_block(m, config, schedule, causal, block, period, visitor); },
        code);
  };
  // The source has one loop of all blocks but the first and the last.
  Code code = Code::own;
  const auto in_loop = [&](const KeyBlock& block, const Affine& period) {
    if_it_has_rows(block, period, code);
    code = Code::of_loop_before;
  };
  if_it_has_rows(schedule.first, 0, Code::own);
  if (schedule.period.size() == 1) {
    m.loop(schedule.periods_slot, [&](const Affine& period) {
      interleaved_block(m, config, schedule, causal, schedule.period.front(), period, visitor);
    });
    code = Code::of_loop_before;
  } else if (!schedule.period.empty()) {
    m.loop(schedule.periods_slot, [&](const Affine& period) {
      code = Code::own;
      for (const KeyBlock& block : schedule.period) {
        in_loop(block, period);
      }
    });
  }
  for (const KeyBlock& block : schedule.rest) {
    block.last ? if_it_has_rows(block, 0, Code::own) : in_loop(block, 0);
  }
}

void walk_chunk(CtaMachine& m, const Config& config, bool causal, const Visitor& visitor) {
  Affine chunk = block_index(2);
  if (config.options.longest_first) {
    chunk = block_index(2) * -1 + (config.num_splits - 1);
  }
  const Affine first_row = chunk * config.chunk_rows();
  const auto visit = [&](const Affine& block, bool first, bool last, bool at_edge) {
    const Affine first_key = block * config.block_keys;
    visitor.key_block({first_key, first_row, first});
    m.loop(kSteps, [&](const Affine& iteration) {
      const Affine row = first_row + iteration * config.step_rows;
      visitor.step({row, row + config.step_rows, iteration, first_key, first, last, at_edge});
    });
  };
  m.when(kOnlyBlock, [&] { visit(0, true, true, true); });
  m.when(kFirstAtEdge, [&] { visit(0, true, false, true); });
  m.when(kFirstWithin, [&] { visit(0, true, false, false); });
  m.loop(kWithin, [&](const Affine& iteration) { visit(iteration + 1, false, false, false); });
  const int edges = edge_blocks(config, causal);
  for (int e = 0; e < edges; ++e) {
    m.when(kEdges + e, [&] { visit(class_symbol(kBlocks) + (e - edges), false, e == edges - 1, true); });
  }
}

ChunkClasses chunk_classes(const Config& config, bool causal) {
  ChunkClasses result;
  std::vector<std::pair<int, int>> known;
  for (int x = 0; x < config.num_splits; ++x) {
    const int z = config.options.longest_first ? config.num_splits - 1 - x : x;
    const int steps = std::min(config.chunk_steps, config.query_steps - z * config.chunk_steps);
    const int reached = ((z + 1) * config.chunk_rows() + config.block_keys - 1) / config.block_keys;
    const std::pair<int, int> wanted{causal ? std::min(reached, config.key_blocks) : config.key_blocks,
                                     steps};
    const auto found = std::ranges::find(known, wanted);
    result.class_of_block.push_back(static_cast<std::uint32_t>(found - known.begin()));
    if (found == known.end()) {
      known.push_back(wanted);
      result.classes.push_back(chunk_class(config, causal, wanted.first, wanted.second));
    }
  }
  return result;
}

}  // namespace warpscope::kernels::fa1

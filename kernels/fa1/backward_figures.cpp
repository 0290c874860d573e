#include "kernels/fa1/backward_figures.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "kernels/fa1/backward_program.hpp"
#include "kernels/fa1/build_figures.hpp"

namespace warpscope::kernels::fa1 {
namespace {

using trace::Opcode;

/// Steps of one CTA per head differ between the first block of keys, which also finds the row products, and
/// later ones.
enum class BackwardStep : std::uint8_t { first, later, parallel };

/// Instructions per warp, by the pipe that the counters name.
struct Counts {
  int alu;  ///< integer and logic
  int fma;  ///< moves and address multiply-adds
  int xu;   ///< conversions
  int uniform;
  int unpiped;  ///< in no pipe's counter: convergence, branches
};

struct BackwardFigures {
  int head_dim;
  bool causal;
  BackwardStep compiled_for;
  Counts step;
  Counts key_block;  ///< before and behind its steps
};

using enum BackwardStep;

// Sequence-parallel: executed instructions of a warp are a whole number for each of its 512 steps (causal:
// 264 or 260 on average) and a remainder for the key block. One CTA per head was measured at one length, so
// that first and later steps share one number; only conversions, which first steps lack, tell them apart.
// clang-format off
constexpr std::array kRows = {
    BackwardFigures{64, false, parallel, {47, 123, 0, 11, 14}, {162, 122, 2, 15, 64}},
    BackwardFigures{64, true, parallel, {57, 129, 2, 13, 21}, {145, 111, 0, 18, 64}},
    BackwardFigures{128, false, parallel, {74, 125, 0, 13, 3}, {159, 112, 2, 16, 64}},
    BackwardFigures{128, true, parallel, {82, 119, 2, 14, 7}, {151, 98, 0, 20, 64}},
    BackwardFigures{64, false, first, {54, 137, 0, 10, 10}, {184, 151, 2, 29, 64}},
    BackwardFigures{64, false, later, {54, 137, 0, 10, 10}, {184, 151, 2, 29, 64}},
    BackwardFigures{64, true, first, {72, 126, 0, 16, 17}, {156, 134, 2, 37, 64}},
    BackwardFigures{64, true, later, {72, 126, 2, 16, 17}, {156, 134, 0, 37, 64}},
    BackwardFigures{128, false, first, {84, 120, 0, 13, 7}, {190, 121, 2, 16, 64}},
    BackwardFigures{128, false, later, {84, 120, 0, 13, 7}, {190, 121, 2, 16, 64}},
    BackwardFigures{128, true, first, {87, 109, 0, 18, 12}, {169, 108, 2, 25, 64}},
    BackwardFigures{128, true, later, {87, 109, 2, 18, 12}, {169, 108, 0, 25, 64}},
};
// clang-format on

// From experiments/reference/machine-code/fa1_backward_loads.csv, as exchanged_loads() of the forward pass.
std::set<int> exchanged_loads(const BackwardConfig& config, bool causal, bool hopper) {
  const bool wide = config.blocks.head_dim == 128;
  if (config.sequence_parallel) {
    return wide || causal || hopper ? std::set{order_of(kLoadLse, kLastBlock)} : std::set<int>{};
  }
  if (!wide) {
    return {order_of(kLoadEarlierGradQ, kMiddleBlock), order_of(kLoadEarlierGradQ, kLastBlock)};
  }
  std::set<int> result{order_of(kLoadLse, kMiddleBlock)};
  if (!hopper) {
    result.insert(order_of(kLoadEarlierGradQ, kLastBlock));
  }
  return result;
}

// Loads of queries, output gradients and row products and what is written of dQ, each behind a branch.
constexpr int kAccesses = 4;

/// `share` of `parts`, `before` of which are taken already: all shares together are the whole.
Counts share_of(const Counts& counts, int before, int share, int parts) {
  const auto cut = [=](int count) { return count * (before + share) / parts - count * before / parts; };
  return {cut(counts.alu), cut(counts.fma), cut(counts.xu), cut(counts.uniform), cut(counts.unpiped)};
}

CountedPart spread(const Counts& counts) {
  CountedBlock block{.spread = {{Opcode::IADD3, counts.alu},
                                {Opcode::IMAD_MOV, counts.fma},
                                {Opcode::I2F, counts.xu},
                                {Opcode::UIADD3, counts.uniform},
                                {Opcode::NOP, counts.unpiped}}};
  std::erase_if(block.spread, [](const CountedInstruction& counted) { return counted.count == 0; });
  return {block};
}

struct PartShare {
  BackwardPart part;
  int share;
};

// About as the instructions that the text expands to.
constexpr std::array kStepShares = {PartShare{kBackScores, 7}, PartShare{kBackGradP, 3},
                                    PartShare{kBackProducts, 6}, PartShare{kBackGradK, 4}};
// As FlashAttention-2's: threads set up more addresses of tiles that they read.
constexpr std::array kKeyBlockShares = {PartShare{kBackKeyBlock, 3}, PartShare{kBackGradients, 2}};

void add_shares(BuildFigures& build, std::span<const PartShare> shares, const Counts& counts, int copy) {
  int all = 0;
  for (const PartShare& one : shares) {
    all += one.share;
  }
  int before = 0;
  for (const PartShare& one : shares) {
    build.parts[{one.part, copy}] = spread(share_of(counts, before, one.share, all));
    before += one.share;
  }
}

void add(BuildFigures& build, const BackwardFigures& row) {
  const int copy = copy_of_block(row.compiled_for == first);
  Counts step = row.step;
  step.alu -= kAccesses;  // the text has a compare for each
  step.fma -= kAccesses * kAddressLinks;
  add_shares(build, kStepShares, step, copy);
  build.parts[{kBackAddress, copy}] = {{.chain = {{Opcode::IMAD, kAddressLinks}}}};
  add_shares(build, kKeyBlockShares, row.key_block, copy);
}

}  // namespace

BuildFigures backward_figures(const BackwardConfig& config, bool causal, bool hopper) {
  BuildFigures build;
  // The counted instructions contain moves, and the addresses of the tiles that are copied.
  build.estimate_moves = false;
  build.estimate_copy_addresses = false;
  const int head_dim = std::max(64, config.blocks.head_dim);
  for (const BackwardFigures& row : kRows) {
    if (row.head_dim == head_dim && row.causal == causal &&
        (row.compiled_for == parallel) == config.sequence_parallel) {
      add(build, row);
    }
  }
  build.exchanged = exchanged_loads(config, causal, hopper);
  return build;
}

BuildFigures row_products_figures(int head_dim) {
  // Each thread multiplies 8 elements where it has a row's share of them at all; the text spreads them
  // evenly.
  const int moved = 27 - 3 * head_dim / 16;
  BuildFigures build;
  build.estimate_moves = false;
  build.parts[{kDotPrologue, 0}] = spread({15, 23, 0, 8, 26});
  build.parts[{kDotStep, 0}] = spread({16, moved, 0, 10, 0});
  return build;
}

}  // namespace warpscope::kernels::fa1

#include "kernels/xformers/backward_figures.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <utility>
#include <vector>

#include "kernels/xformers/backward_program.hpp"

namespace warpscope::kernels::xformers {
namespace {

using trace::Opcode;

/// Per warp and execution of a part, beyond what the program's text expands to.
struct BackwardFigures {
  int block;  ///< of the instantiation
  BackwardPart part;
  // Of these two, and of `convert` where there are such, each needs the result of the one before.
  int chained_alu;
  int chained_fma;
  int alu;          ///< other integer, logic, compares, selects
  int fma;          ///< other moves and address multiply-adds
  int uniform;      ///< uniform datapath
  int special;      ///< zeros in pairs, special registers, convergence, atomics and fences
  int branch;       ///< each behind a comparison, one of the ALU instructions; what they jump over: kBranches
  int convert;      ///< integer division by way of floating point
  int shared_load;  ///< predicated off, copies behind the last slice too; in dS those of single elements of
                    ///< P, which the text loads in pairs
  int shuffle;
  int spill_load;
  int spill_store;
  int dead_copies = 0;       ///< of a slice with nothing left to copy, predicated off
  int dead_matrix_load = 0;  ///< LDSM behind the last slice: of the step that a further one would begin with
};

// Executed instructions of each line of the machine code in PyTorch 2.11 for sm_90 (CUDA 13.0; Nsight Compute
// on an H200, 2048 tokens, 8 heads, no mask), between the barriers, less what the text expands to there. So
// counts are in-sample at that length. Where a load of sums costs the text more index arithmetic than the
// build, dQ has that much less. What a slice adds is that of the loops in a build of the same source
// (CUTLASS' example 41) by the same compiler, and the rest of its part what lies around the loop. Of each
// part as many are chained as give it the stall counts of the machine code, as far as it has index arithmetic
// (experiments/reference/measured-h200/xformers_backward_parts.csv).
// clang-format off
constexpr std::array kRowsSm90 = {
    BackwardFigures{64, kBackPrologue, 0, 0, 129, 110, 155, 18, 9, 3, 3, 1, 0, 0},
    BackwardFigures{64, kBackDelta, 0, 0, 8, 7, 2, 16, 0, 0, 0, 0, 0, 0},
    BackwardFigures{64, kBackRows, 10, 5, 0, 0, 17, 7, 0, 0, 0, 0, 0, 0},
    BackwardFigures{64, kBackScores, 31, 11, 56, 19, 20, 0, 1, 0, 0, 0, 0, 0, 0, 2},
    BackwardFigures{64, kBackProbabilities, 44, 9, 10, 2, 9, 4, 3, 0, 3, 1, 0, 0},
    BackwardFigures{64, kBackGradV, 0, 0, 3, 8, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2},
    BackwardFigures{64, kBackGradP, 0, 0, 5, 13, 13, 1, 1, 0, 0, 0, 0, 0, 0, 2},
    BackwardFigures{64, kBackGradS, 66, 17, 2, 2, 17, 2, 1, 0, 19, 1, 0, 0},
    BackwardFigures{64, kBackLock, 0, 0, 0, 4, 14, 18, 1, 0, 4, 0, 0, 0},
    BackwardFigures{64, kBackGradQ, 0, 0, 3, 8, 5, 0, 0, 0, 0, 0, 0, 0, 0, 2},
    BackwardFigures{64, kBackTurnEnds, 6, 8, 0, 0, 39, 9, 5, 0, 5, 0, 0, 0},
    BackwardFigures{64, kBackGradK, 0, 0, 13, 13, 7, 1, 0, 0, 0, 1, 0, 0, 0, 2},
    BackwardFigures{64, kBackNext, 53, 33, 14, 8, 63, 2, 10, 6, 3, 0, 0, 0},
    BackwardFigures{64, kBackGradients, 0, 0, 45, 35, 12, 1, 1, 0, 0, 0, 0, 0},
    BackwardFigures{64, kBackScoresSlice, 0, 0, 6, 4, 2, 0, 0, 0, 0, 0, 0, 0},
    BackwardFigures{64, kBackGradVSlice, 0, 0, 6, 5, 2, 0, 0, 0, 0, 0, 0, 0},
    BackwardFigures{64, kBackGradPSlice, 0, 0, 6, 4, 2, 0, 0, 0, 0, 0, 0, 0},
    BackwardFigures{64, kBackGradQSlice, 0, 0, 6, 5, 2, 0, 0, 0, 0, 0, 0, 0},
    BackwardFigures{64, kBackGradKSlice, 0, 0, 6, 5, 2, 0, 0, 0, 0, 0, 0, 0},
    BackwardFigures{128, kBackPrologue, 0, 0, 87, 94, 151, 19, 9, 3, 3, 1, 4, 14},
    BackwardFigures{128, kBackDelta, 0, 0, 8, 6, 2, 17, 0, 0, 0, 0, 4, 0},
    BackwardFigures{128, kBackRows, 15, 7, 0, 0, 18, 5, 0, 0, 0, 0, 1, 6},
    BackwardFigures{128, kBackScores, 25, 17, 31, 21, 31, 5, 1, 0, 0, 0, 15, 4, 0, 2},
    BackwardFigures{128, kBackProbabilities, 35, 14, 35, 14, 18, 4, 3, 0, 3, 1, 2, 3},
    BackwardFigures{128, kBackGradV, 0, 0, 30, 29, 10, 0, 0, 0, 0, 0, 7, 3, 0, 2},
    BackwardFigures{128, kBackGradP, 0, 0, 51, 32, 1, 2, 1, 0, 0, 0, 21, 1, 0, 2},
    BackwardFigures{128, kBackGradS, 28, 11, 13, 5, 15, 3, 1, 0, 19, 1, 3, 0},
    BackwardFigures{128, kBackLock, 0, 0, 0, 7, 13, 18, 1, 0, 4, 0, 4, 1},
    BackwardFigures{128, kBackGradQ, 0, 0, 24, 20, 3, 0, 0, 0, 0, 0, 2, 0, 0, 2},
    BackwardFigures{128, kBackTurnEnds, 7, 10, 0, 0, 7, 8, 5, 0, 4, 0, 0, 0},
    BackwardFigures{128, kBackGradK, 0, 0, 50, 46, 22, 1, 0, 0, 0, 1, 3, 0, 0, 2},
    BackwardFigures{128, kBackNext, 52, 40, 0, 0, 65, 2, 10, 6, 3, 0, 6, 0},
    BackwardFigures{128, kBackGradients, 0, 0, 44, 37, 12, 2, 1, 0, 0, 0, 0, 0},
    BackwardFigures{128, kBackScoresSlice, 0, 0, 10, 5, 18, 0, 0, 0, 3, 0, 0, 0, 2},
    BackwardFigures{128, kBackGradVSlice, 0, 0, 9, 4, 12, 0, 0, 0, 3, 0, 0, 0, 1},
    BackwardFigures{128, kBackGradPSlice, 0, 0, 8, 6, 21, 0, 0, 0, 3, 0, 0, 0, 2},
    BackwardFigures{128, kBackGradQSlice, 0, 0, 18, 12, 23, 0, 0, 0, 3, 0, 0, 0, 1},
    BackwardFigures{128, kBackGradKSlice, 0, 0, 9, 4, 12, 0, 0, 0, 3, 0, 0, 0, 1},
};

// The same of xformers 0.0.20, by CUDA 11.8 for sm_80, along the path of a step without mask
// (experiments/reference/machine-code/xformers_backward.csv): nothing was executed to count it. Chained are as
// many as give each part the stall counts of the machine code, as on sm_90.
constexpr std::array kRowsSm80 = {
    BackwardFigures{64, kBackPrologue, 0, 0, 158, 181, 37, 9, 13, 3, 3, 1, 0, 2},
    BackwardFigures{64, kBackDelta, 0, 0, 7, 4, 1, 16, 0, 0, 0, 0, 0, 0},
    BackwardFigures{64, kBackRows, 9, 9, 0, 0, 12, 4, 4, 0, 0, 0, 0, 0},
    BackwardFigures{64, kBackRowsShift, 10, 12, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0},
    BackwardFigures{64, kBackScores, 6, 8, 30, 45, 1, 2, 0, 0, 0, 0, 0, 0, 0, 2},
    BackwardFigures{64, kBackProbabilities, 6, 1, 74, 13, 13, 4, 3, 0, 3, 1, 0, 0},
    BackwardFigures{64, kBackGradV, 0, 0, 5, 2, 6, 0, 0, 0, 0, 0, 0, 0, 0, 2},
    BackwardFigures{64, kBackGradP, 0, 0, 5, 6, 3, 0, 1, 0, 0, 0, 0, 0, 0, 2},
    BackwardFigures{64, kBackGradS, 20, 15, 19, 14, 8, 0, 1, 0, 19, 3, 0, 0},
    BackwardFigures{64, kBackLock, 0, 0, 0, 10, 0, 17, 0, 0, 4, 0, 0, 0},
    BackwardFigures{64, kBackGradQ, 0, 0, 2, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2},
    BackwardFigures{64, kBackTurnEnds, 16, 13, 0, 0, 0, 13, 3, 0, 8, 0, 0, 0},
    BackwardFigures{64, kBackGradK, 0, 0, 15, 9, 0, 1, 1, 0, 0, 1, 0, 0, 0, 2},
    BackwardFigures{64, kBackNext, 14, 7, 38, 21, 0, 0, 4, 0, 3, 0, 0, 0},
    BackwardFigures{64, kBackNextShift, 10, 12, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0},
    BackwardFigures{64, kBackGradients, 0, 0, 51, 52, 7, 0, 2, 0, 0, 3, 2, 0},
    BackwardFigures{64, kBackScoresSlice, 0, 0, 3, 8, 2, 0, 0, 0, 0, 0, 0, 0},
    BackwardFigures{64, kBackGradVSlice, 0, 0, 4, 8, 1, 0, 0, 0, 0, 0, 0, 0},
    BackwardFigures{64, kBackGradPSlice, 0, 0, 3, 0, 2, 0, 0, 0, 0, 0, 0, 0},
    BackwardFigures{64, kBackGradQSlice, 0, 0, 16, 9, 0, 0, 0, 0, 0, 0, 0, 0},
    BackwardFigures{64, kBackGradKSlice, 0, 0, 5, 9, 0, 0, 0, 0, 0, 0, 0, 0},
    BackwardFigures{128, kBackPrologue, 0, 0, 64, 30, 275, 6, 12, 3, 3, 1, 0, 0},
    BackwardFigures{128, kBackDelta, 0, 0, 7, 5, 2, 16, 0, 0, 0, 0, 0, 0},
    BackwardFigures{128, kBackRows, 0, 0, 19, 11, 17, 4, 4, 0, 0, 0, 0, 1},
    BackwardFigures{128, kBackRowsShift, 9, 13, 0, 0, 1, 0, 0, 3, 0, 0, 0, 0},
    BackwardFigures{128, kBackScores, 0, 0, 37, 60, 31, 3, 0, 0, 0, 0, 1, 0, 0, 2},
    BackwardFigures{128, kBackProbabilities, 0, 0, 52, 0, 22, 4, 3, 0, 3, 1, 0, 0},
    BackwardFigures{128, kBackGradV, 0, 0, 12, 5, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2},
    BackwardFigures{128, kBackGradP, 0, 0, 29, 22, 16, 1, 1, 0, 0, 0, 1, 0, 0, 2},
    BackwardFigures{128, kBackGradS, 0, 0, 29, 16, 17, 0, 1, 0, 19, 3, 0, 0},
    BackwardFigures{128, kBackLock, 0, 0, 0, 3, 14, 16, 0, 0, 4, 0, 0, 0},
    BackwardFigures{128, kBackGradQ, 0, 0, 18, 14, 9, 0, 0, 0, 0, 0, 0, 0, 0, 2},
    BackwardFigures{128, kBackTurnEnds, 2, 7, 0, 0, 33, 12, 4, 0, 8, 0, 0, 0},
    BackwardFigures{128, kBackGradK, 0, 0, 36, 25, 4, 1, 0, 0, 0, 1, 0, 0, 0, 2},
    BackwardFigures{128, kBackNext, 11, 7, 19, 10, 24, 0, 4, 0, 3, 0, 0, 0},
    BackwardFigures{128, kBackNextShift, 9, 14, 0, 0, 1, 0, 0, 3, 0, 0, 0, 0},
    BackwardFigures{128, kBackGradients, 0, 0, 55, 44, 18, 1, 2, 0, 0, 3, 0, 0},
    BackwardFigures{128, kBackScoresSlice, 0, 0, 13, 6, 18, 0, 0, 0, 3, 0, 0, 0, 2},
    BackwardFigures{128, kBackGradVSlice, 0, 0, 10, 11, 12, 0, 0, 0, 3, 0, 0, 0, 1},
    BackwardFigures{128, kBackGradPSlice, 0, 0, 13, 6, 18, 0, 0, 0, 3, 0, 0, 0, 2},
    BackwardFigures{128, kBackGradQSlice, 0, 0, 19, 14, 25, 0, 0, 0, 3, 0, 0, 0, 1},
    BackwardFigures{128, kBackGradKSlice, 0, 0, 15, 14, 6, 0, 0, 0, 3, 0, 0, 0, 1},
};
// clang-format on

/// What the branches of a part do beside branching.
struct PartBranches {
  BackwardPart part;
  int convergences;         ///< of lanes that parted: BSYNC and WARPSYNC
  std::array<int, 5> over;  ///< instructions that each jumps over; 0: it is not taken
};

// Masks, bias and dropout, the first and the last in turn, edges of the tensor, divisions that are exact. By
// how often each line of the machine code of 64x64 for sm_90 was executed; that of 128x128 has the same jumps
// (experiments/reference/measured-h200/loop_jumps.csv), and the builds for sm_80 are taken to have them.
constexpr std::array kPartBranches = {
    PartBranches{kBackRows, 1, {}},
    PartBranches{kBackProbabilities, 0, {160, 89, 86}},
    PartBranches{kBackGradS, 0, {126}},
    PartBranches{kBackLock, 1, {21}},
    PartBranches{kBackTurnEnds, 2, {11, 24, 132}},
    PartBranches{kBackNext, 0, {5, 68, 140, 5, 68}},
};

PartBranches branches_of(BackwardPart part) {
  const auto* const found = std::ranges::find(kPartBranches, part, &PartBranches::part);
  return found != kPartBranches.end() ? *found : PartBranches{part, 0, {}};
}

/// The share of block `i` in `count` instructions of as many `blocks`.
int share(int count, int i, int blocks) {
  return (i + 1) * count / blocks - i * count / blocks;
}

/// A part in as many blocks as its branches make, each of which hangs on a comparison of what stands before
/// it.
CountedPart counted(const BackwardFigures& row, int copy) {
  const PartBranches branches = branches_of(row.part);
  const int convergences = std::min(row.special, branches.convergences);
  const int blocks = row.branch + 1;
  CountedPart part;
  for (int i = 0; i < blocks; ++i) {
    const auto of = [&](int count) { return share(count, i, blocks); };
    const bool ends = i < row.branch;
    const int chained = of(row.chained_alu);
    const int alu = of(row.alu);
    const int compares = ends && chained + alu > 0 ? 1 : 0;
    const int from_chain = chained > 0 ? compares : 0;
    CountedBlock block{
        .chain = {{Opcode::LOP3, chained - from_chain}, {Opcode::IMAD_MOV, of(row.chained_fma)}}};
    block.spread = {{Opcode::LOP3, alu - (compares - from_chain)},
                    {Opcode::IMAD_MOV, of(row.fma)},
                    {Opcode::UIADD3, of(row.uniform)},
                    {Opcode::CS2R, of(row.special - convergences)},
                    {Opcode::BSYNC, of(convergences)}};
    (row.chained_alu > 0 ? block.chain : block.spread).push_back({Opcode::I2F, of(row.convert)});
    if (ends) {
      block.chain.push_back({Opcode::ISETP, compares});
      block.end = BlockEnd::branch;
      const auto branch = static_cast<std::size_t>(i);
      block.jumps_over = branch < branches.over.size() ? branches.over[branch] : 0;
    } else {
      block.spread.insert(block.spread.end(), {{Opcode::LDS_32, row.shared_load + copy * row.dead_copies},
                                               {Opcode::LDSM_X4, row.dead_matrix_load},
                                               {Opcode::SHFL_IDX, row.shuffle},
                                               {Opcode::LDL, row.spill_load},
                                               {Opcode::STL, row.spill_store}});
    }
    for (std::vector<CountedInstruction>* kinds : {&block.spread, &block.chain}) {
      std::erase_if(*kinds, [](const CountedInstruction& one) { return one.count == 0; });
    }
    part.push_back(block);
  }
  return part;
}

/// The stack frame: 136 bytes in the machine code of PyTorch 2.11, and what ptxas of CUDA 11.8 names.
int spilled_words(const BackwardTile& tile, int capability_major) {
  if (capability_major >= 9) {
    return tile.block == 128 ? 34 : 0;
  }
  return tile.block == 128 ? 2 : 4;
}

}  // namespace

BuildFigures backward_figures(const BackwardTile& tile, int capability_major) {
  BuildFigures build;
  // As forward: scale, log-sum-exp and exponential are separate loops of the source.
  build.math = {.fused_multiply_add = false,
                .fast_exp2 = capability_major < 9,
                .mma_depth = 8,
                .hmma_scoreboard = capability_major < 9};
  build.spilled_words = spilled_words(tile, capability_major);
  build.estimate_moves = false;  // the figures contain them
  build.estimate_copy_addresses = false;
  for (const BackwardFigures& row :
       capability_major < 9 ? std::span<const BackwardFigures>(kRowsSm80) : kRowsSm90) {
    if (row.block == tile.block) {
      for (const int copy : {0, 1}) {
        build.parts[{row.part, copy}] = counted(row, copy);
      }
    }
  }
  return build;
}

}  // namespace warpscope::kernels::xformers

#include "kernels/xformers/backward_figures.hpp"

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
  int branch;       ///< not taken
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
// (CUTLASS' example 41) by the same compiler, and the rest of its part what lies around the loop. In front of
// the scores and on the way to the next queries as many are chained as give the step there the stall counts
// of the machine code (experiments/reference/measured-h200/xformers_backward_parts.csv).
// clang-format off
constexpr std::array kRowsSm90 = {
    BackwardFigures{64, kBackPrologue, 0, 0, 129, 110, 155, 18, 9, 3, 3, 1, 0, 0},
    BackwardFigures{64, kBackDelta, 0, 0, 8, 7, 2, 16, 0, 0, 0, 0, 0, 0},
    BackwardFigures{64, kBackRows, 10, 5, 0, 0, 17, 7, 0, 0, 0, 0, 0, 0},
    BackwardFigures{64, kBackScores, 34, 12, 53, 18, 20, 0, 4, 0, 0, 0, 0, 0, 0, 2},
    BackwardFigures{64, kBackProbabilities, 0, 0, 54, 11, 9, 4, 0, 0, 3, 1, 0, 0},
    BackwardFigures{64, kBackGradV, 0, 0, 3, 8, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2},
    BackwardFigures{64, kBackGradP, 0, 0, 5, 13, 13, 1, 1, 0, 0, 0, 0, 0, 0, 2},
    BackwardFigures{64, kBackGradS, 0, 0, 68, 19, 17, 2, 1, 0, 19, 1, 0, 0},
    BackwardFigures{64, kBackLock, 0, 0, 0, 4, 14, 18, 1, 0, 4, 0, 0, 0},
    BackwardFigures{64, kBackGradQ, 0, 0, 3, 8, 5, 0, 0, 0, 0, 0, 0, 0, 0, 2},
    BackwardFigures{64, kBackTurnEnds, 6, 8, 0, 0, 39, 9, 5, 0, 5, 0, 0, 0},
    BackwardFigures{64, kBackGradK, 0, 0, 13, 13, 7, 1, 0, 0, 0, 1, 0, 0, 0, 2},
    BackwardFigures{64, kBackNext, 63, 39, 4, 2, 63, 2, 10, 6, 3, 0, 0, 0},
    BackwardFigures{64, kBackGradients, 0, 0, 45, 35, 12, 1, 1, 0, 0, 0, 0, 0},
    BackwardFigures{64, kBackScoresSlice, 0, 0, 6, 4, 2, 0, 0, 0, 0, 0, 0, 0},
    BackwardFigures{64, kBackGradVSlice, 0, 0, 6, 5, 2, 0, 0, 0, 0, 0, 0, 0},
    BackwardFigures{64, kBackGradPSlice, 0, 0, 6, 4, 2, 0, 0, 0, 0, 0, 0, 0},
    BackwardFigures{64, kBackGradQSlice, 0, 0, 6, 5, 2, 0, 0, 0, 0, 0, 0, 0},
    BackwardFigures{64, kBackGradKSlice, 0, 0, 6, 5, 2, 0, 0, 0, 0, 0, 0, 0},
    BackwardFigures{128, kBackPrologue, 0, 0, 87, 94, 151, 19, 9, 3, 3, 1, 4, 14},
    BackwardFigures{128, kBackDelta, 0, 0, 8, 6, 2, 17, 0, 0, 0, 0, 4, 0},
    BackwardFigures{128, kBackRows, 15, 7, 0, 0, 18, 5, 0, 0, 0, 0, 1, 6},
    BackwardFigures{128, kBackScores, 42, 29, 14, 9, 31, 5, 4, 0, 0, 0, 15, 4, 0, 2},
    BackwardFigures{128, kBackProbabilities, 0, 0, 70, 28, 18, 4, 0, 0, 3, 1, 2, 3},
    BackwardFigures{128, kBackGradV, 0, 0, 30, 29, 10, 0, 0, 0, 0, 0, 7, 3, 0, 2},
    BackwardFigures{128, kBackGradP, 0, 0, 51, 32, 1, 2, 1, 0, 0, 0, 21, 1, 0, 2},
    BackwardFigures{128, kBackGradS, 0, 0, 41, 16, 15, 3, 1, 0, 19, 1, 3, 0},
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
// (experiments/reference/machine-code/xformers_backward.csv): nothing was executed to count it. Chained is what
// has mean stall counts of 3 and more there, and of scores, probabilities and the way to the next queries as
// much as gives the step there the stall counts of the machine code.
constexpr std::array kRowsSm80 = {
    BackwardFigures{64, kBackPrologue, 0, 0, 158, 181, 37, 9, 13, 3, 3, 1, 0, 2},
    BackwardFigures{64, kBackDelta, 0, 0, 7, 4, 1, 16, 0, 0, 0, 0, 0, 0},
    BackwardFigures{64, kBackRows, 9, 9, 0, 0, 12, 4, 4, 0, 0, 0, 0, 0},
    BackwardFigures{64, kBackRowsShift, 10, 12, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0},
    BackwardFigures{64, kBackScores, 7, 10, 29, 43, 1, 2, 3, 0, 0, 0, 0, 0, 0, 2},
    BackwardFigures{64, kBackProbabilities, 42, 7, 38, 7, 13, 4, 0, 0, 3, 1, 0, 0},
    BackwardFigures{64, kBackGradV, 0, 0, 5, 2, 6, 0, 0, 0, 0, 0, 0, 0, 0, 2},
    BackwardFigures{64, kBackGradP, 0, 0, 5, 6, 3, 0, 1, 0, 0, 0, 0, 0, 0, 2},
    BackwardFigures{64, kBackGradS, 0, 0, 39, 29, 8, 0, 1, 0, 19, 3, 0, 0},
    BackwardFigures{64, kBackLock, 0, 0, 0, 10, 0, 17, 0, 0, 4, 0, 0, 0},
    BackwardFigures{64, kBackGradQ, 0, 0, 2, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2},
    BackwardFigures{64, kBackTurnEnds, 16, 13, 0, 0, 0, 13, 3, 0, 8, 0, 0, 0},
    BackwardFigures{64, kBackGradK, 0, 0, 15, 9, 0, 1, 1, 0, 0, 1, 0, 0, 0, 2},
    BackwardFigures{64, kBackNext, 36, 19, 16, 9, 0, 0, 4, 0, 3, 0, 0, 0},
    BackwardFigures{64, kBackNextShift, 10, 12, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0},
    BackwardFigures{64, kBackGradients, 0, 0, 51, 52, 7, 0, 2, 0, 0, 3, 2, 0},
    BackwardFigures{64, kBackScoresSlice, 0, 0, 3, 8, 2, 0, 0, 0, 0, 0, 0, 0},
    BackwardFigures{64, kBackGradVSlice, 0, 0, 4, 8, 1, 0, 0, 0, 0, 0, 0, 0},
    BackwardFigures{64, kBackGradPSlice, 0, 0, 3, 0, 2, 0, 0, 0, 0, 0, 0, 0},
    BackwardFigures{64, kBackGradQSlice, 0, 0, 16, 9, 0, 0, 0, 0, 0, 0, 0, 0},
    BackwardFigures{64, kBackGradKSlice, 0, 0, 5, 9, 0, 0, 0, 0, 0, 0, 0, 0},
    BackwardFigures{128, kBackPrologue, 0, 0, 64, 30, 275, 6, 12, 3, 3, 1, 0, 0},
    BackwardFigures{128, kBackDelta, 0, 0, 7, 5, 2, 16, 0, 0, 0, 0, 0, 0},
    BackwardFigures{128, kBackRows, 19, 11, 0, 0, 17, 4, 4, 0, 0, 0, 0, 1},
    BackwardFigures{128, kBackRowsShift, 9, 13, 0, 0, 1, 0, 0, 3, 0, 0, 0, 0},
    BackwardFigures{128, kBackScores, 0, 0, 37, 60, 31, 3, 3, 0, 0, 0, 1, 0, 0, 2},
    BackwardFigures{128, kBackProbabilities, 6, 0, 46, 0, 22, 4, 0, 0, 3, 1, 0, 0},
    BackwardFigures{128, kBackGradV, 0, 0, 12, 5, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2},
    BackwardFigures{128, kBackGradP, 0, 0, 29, 22, 16, 1, 1, 0, 0, 0, 1, 0, 0, 2},
    BackwardFigures{128, kBackGradS, 0, 0, 29, 16, 17, 0, 1, 0, 19, 3, 0, 0},
    BackwardFigures{128, kBackLock, 0, 0, 0, 3, 14, 16, 0, 0, 4, 0, 0, 0},
    BackwardFigures{128, kBackGradQ, 0, 0, 18, 14, 9, 0, 0, 0, 0, 0, 0, 0, 0, 2},
    BackwardFigures{128, kBackTurnEnds, 2, 7, 0, 0, 33, 12, 4, 0, 8, 0, 0, 0},
    BackwardFigures{128, kBackGradK, 0, 0, 36, 25, 4, 1, 0, 0, 0, 1, 0, 0, 0, 2},
    BackwardFigures{128, kBackNext, 30, 17, 0, 0, 24, 0, 4, 0, 3, 0, 0, 0},
    BackwardFigures{128, kBackNextShift, 9, 14, 0, 0, 1, 0, 0, 3, 0, 0, 0, 0},
    BackwardFigures{128, kBackGradients, 0, 0, 55, 44, 18, 1, 2, 0, 0, 3, 0, 0},
    BackwardFigures{128, kBackScoresSlice, 0, 0, 13, 6, 18, 0, 0, 0, 3, 0, 0, 0, 2},
    BackwardFigures{128, kBackGradVSlice, 0, 0, 10, 11, 12, 0, 0, 0, 3, 0, 0, 0, 1},
    BackwardFigures{128, kBackGradPSlice, 0, 0, 13, 6, 18, 0, 0, 0, 3, 0, 0, 0, 2},
    BackwardFigures{128, kBackGradQSlice, 0, 0, 19, 14, 25, 0, 0, 0, 3, 0, 0, 0, 1},
    BackwardFigures{128, kBackGradKSlice, 0, 0, 15, 14, 6, 0, 0, 0, 3, 0, 0, 0, 1},
};
// clang-format on

CountedBlock counted(const BackwardFigures& row, int copy) {
  CountedBlock block;
  block.chain = {{Opcode::LOP3, row.chained_alu}, {Opcode::IMAD_MOV, row.chained_fma}};
  block.spread = {{Opcode::LOP3, row.alu},
                  {Opcode::IMAD_MOV, row.fma},
                  {Opcode::UIADD3, row.uniform},
                  {Opcode::CS2R, row.special},
                  {Opcode::BRA, row.branch},
                  {Opcode::LDS_32, row.shared_load + copy * row.dead_copies},
                  {Opcode::LDSM_X4, row.dead_matrix_load},
                  {Opcode::SHFL_IDX, row.shuffle},
                  {Opcode::LDL, row.spill_load},
                  {Opcode::STL, row.spill_store}};
  (row.chained_alu > 0 ? block.chain : block.spread).push_back({Opcode::I2F, row.convert});
  for (std::vector<CountedInstruction>* kinds : {&block.spread, &block.chain}) {
    std::erase_if(*kinds, [](const CountedInstruction& one) { return one.count == 0; });
  }
  return block;
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
        build.parts[{row.part, copy}] = {counted(row, copy)};
      }
    }
  }
  return build;
}

}  // namespace warpscope::kernels::xformers

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
  bool is_chained;  ///< each of the next two kinds needs the result of the one before
  int alu;          ///< integer, logic, compares, selects
  int fma;          ///< moves and address multiply-adds
  int uniform;      ///< uniform datapath
  int special;      ///< zeros in pairs, special registers, convergence, atomics and fences
  int branch;       ///< not taken
  int convert;      ///< integer division by way of floating point
  int shared_load;  ///< predicated off, copies behind the last slice too; in dS those of single elements of
                    ///< P, which the text loads in pairs
  int shuffle;
  int spill_load;
  int spill_store;
};

// Executed instructions of each line of the machine code in PyTorch 2.11 for sm_90 (CUDA 13.0; Nsight Compute
// on an H200, 2048 tokens, 8 heads, no mask), between the barriers, less what the text expands to there. So
// counts are in-sample at that length. Where a load of sums costs the text more index arithmetic than the
// build, dQ has that much less.
// clang-format off
constexpr std::array kRowsSm90 = {
    BackwardFigures{64, kBackPrologue, false, 129, 110, 155, 18, 9, 3, 3, 1, 0, 0},
    BackwardFigures{64, kBackDelta, false, 8, 7, 2, 16, 0, 0, 0, 0, 0, 0},
    BackwardFigures{64, kBackRows, true, 10, 5, 17, 15, 0, 0, 0, 0, 0, 0},
    BackwardFigures{64, kBackScores, true, 99, 38, 24, 8, 6, 0, 0, 0, 0, 0},
    BackwardFigures{64, kBackProbabilities, false, 54, 11, 9, 4, 0, 0, 3, 1, 0, 0},
    BackwardFigures{64, kBackGradV, true, 15, 18, 5, 0, 2, 0, 0, 0, 0, 0},
    BackwardFigures{64, kBackGradP, true, 17, 21, 17, 17, 3, 0, 0, 0, 0, 0},
    BackwardFigures{64, kBackGradS, false, 68, 19, 17, 2, 1, 0, 19, 1, 0, 0},
    BackwardFigures{64, kBackLock, false, 0, 4, 14, 18, 1, 0, 4, 0, 0, 0},
    BackwardFigures{64, kBackGradQ, true, 15, 18, 9, 0, 2, 0, 0, 0, 0, 0},
    BackwardFigures{64, kBackTurnEnds, true, 6, 8, 39, 9, 5, 0, 5, 0, 0, 0},
    BackwardFigures{64, kBackGradK, true, 25, 23, 11, 1, 2, 0, 0, 1, 0, 0},
    BackwardFigures{64, kBackNext, true, 67, 41, 63, 2, 10, 6, 3, 0, 0, 0},
    BackwardFigures{64, kBackGradients, false, 45, 35, 12, 1, 1, 0, 0, 0, 0, 0},
    BackwardFigures{128, kBackPrologue, false, 87, 94, 151, 19, 9, 3, 3, 1, 4, 14},
    BackwardFigures{128, kBackDelta, false, 8, 6, 2, 17, 0, 0, 0, 0, 4, 0},
    BackwardFigures{128, kBackRows, true, 15, 7, 18, 12, 0, 0, 0, 0, 1, 6},
    BackwardFigures{128, kBackScores, true, 96, 58, 103, 14, 8, 0, 16, 0, 15, 4},
    BackwardFigures{128, kBackProbabilities, false, 70, 28, 18, 4, 0, 0, 3, 1, 2, 3},
    BackwardFigures{128, kBackGradV, true, 66, 45, 58, 16, 4, 0, 14, 0, 7, 3},
    BackwardFigures{128, kBackGradP, true, 83, 56, 85, 2, 5, 0, 16, 0, 21, 1},
    BackwardFigures{128, kBackGradS, false, 41, 16, 15, 3, 1, 0, 19, 1, 3, 0},
    BackwardFigures{128, kBackLock, false, 0, 7, 13, 18, 1, 0, 4, 0, 4, 1},
    BackwardFigures{128, kBackGradQ, true, 96, 68, 95, 0, 4, 0, 14, 0, 2, 0},
    BackwardFigures{128, kBackTurnEnds, true, 7, 10, 7, 8, 5, 0, 4, 0, 0, 0},
    BackwardFigures{128, kBackGradK, true, 86, 62, 70, 1, 4, 0, 14, 1, 3, 0},
    BackwardFigures{128, kBackNext, true, 52, 40, 65, 2, 10, 6, 3, 0, 6, 0},
    BackwardFigures{128, kBackGradients, false, 44, 37, 12, 2, 1, 0, 0, 0, 0, 0},
};

// The same of xformers 0.0.20, by CUDA 11.8 for sm_80, along the path of a step without mask
// (experiments/reference/machine-code/xformers_backward.csv): nothing was executed to count it.
constexpr std::array kRowsSm80 = {
    BackwardFigures{64, kBackPrologue, false, 158, 181, 37, 9, 13, 3, 3, 1, 0, 2},
    BackwardFigures{64, kBackDelta, false, 7, 4, 1, 16, 0, 0, 0, 0, 0, 0},
    BackwardFigures{64, kBackRows, true, 19, 21, 12, 10, 4, 3, 0, 0, 0, 0},
    BackwardFigures{64, kBackScores, true, 42, 69, 5, 12, 5, 0, 0, 0, 0, 0},
    BackwardFigures{64, kBackProbabilities, false, 80, 14, 13, 4, 0, 0, 3, 1, 0, 0},
    BackwardFigures{64, kBackGradV, true, 13, 18, 8, 0, 2, 0, 0, 0, 0, 0},
    BackwardFigures{64, kBackGradP, true, 11, 6, 7, 16, 3, 0, 0, 0, 0, 0},
    BackwardFigures{64, kBackGradS, false, 39, 29, 8, 0, 1, 0, 19, 3, 0, 0},
    BackwardFigures{64, kBackLock, false, 0, 10, 0, 17, 0, 0, 4, 0, 0, 0},
    BackwardFigures{64, kBackGradQ, true, 34, 20, 0, 0, 2, 0, 0, 0, 0, 0},
    BackwardFigures{64, kBackTurnEnds, true, 16, 13, 0, 13, 3, 0, 8, 0, 0, 0},
    BackwardFigures{64, kBackGradK, true, 25, 27, 0, 1, 3, 0, 0, 1, 0, 0},
    BackwardFigures{64, kBackNext, true, 83, 58, 0, 0, 9, 6, 3, 0, 0, 0},
    BackwardFigures{64, kBackGradients, false, 51, 52, 7, 0, 2, 0, 0, 3, 2, 0},
    BackwardFigures{128, kBackPrologue, false, 64, 30, 275, 6, 12, 3, 3, 1, 0, 0},
    BackwardFigures{128, kBackDelta, false, 7, 5, 2, 16, 0, 0, 0, 0, 0, 0},
    BackwardFigures{128, kBackRows, true, 28, 24, 18, 9, 4, 3, 0, 0, 0, 1},
    BackwardFigures{128, kBackScores, true, 89, 84, 103, 14, 7, 0, 16, 0, 1, 0},
    BackwardFigures{128, kBackProbabilities, false, 52, 0, 22, 4, 0, 0, 3, 1, 0, 0},
    BackwardFigures{128, kBackGradV, true, 52, 49, 49, 0, 4, 0, 14, 0, 0, 0},
    BackwardFigures{128, kBackGradP, true, 81, 46, 88, 17, 5, 0, 16, 0, 1, 0},
    BackwardFigures{128, kBackGradS, false, 29, 16, 17, 0, 1, 0, 19, 3, 0, 0},
    BackwardFigures{128, kBackLock, false, 0, 3, 14, 16, 0, 0, 4, 0, 0, 0},
    BackwardFigures{128, kBackGradQ, true, 94, 70, 109, 0, 4, 0, 14, 0, 0, 0},
    BackwardFigures{128, kBackTurnEnds, true, 2, 7, 33, 12, 4, 0, 8, 0, 0, 0},
    BackwardFigures{128, kBackGradK, true, 96, 81, 28, 1, 4, 0, 14, 1, 0, 0},
    BackwardFigures{128, kBackNext, true, 43, 31, 52, 0, 11, 3, 3, 0, 0, 0},
    BackwardFigures{128, kBackGradients, false, 55, 44, 18, 1, 2, 0, 0, 3, 0, 0},
};
// clang-format on

CountedBlock counted(const BackwardFigures& row) {
  std::vector<CountedInstruction> arithmetic = {{Opcode::LOP3, row.alu}, {Opcode::IMAD_MOV, row.fma}};
  std::vector<CountedInstruction> others = {
      {Opcode::UIADD3, row.uniform}, {Opcode::CS2R, row.special},       {Opcode::BRA, row.branch},
      {Opcode::I2F, row.convert},    {Opcode::LDS_32, row.shared_load}, {Opcode::SHFL_IDX, row.shuffle},
      {Opcode::LDL, row.spill_load}, {Opcode::STL, row.spill_store}};
  CountedBlock block;
  if (row.is_chained) {
    block.chain = std::move(arithmetic);
  } else {
    others.insert(others.begin(), arithmetic.begin(), arithmetic.end());
  }
  block.spread = std::move(others);
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
  build.math = {.fused_multiply_add = false, .fast_exp2 = capability_major < 9, .mma_depth = 8};
  build.spilled_words = spilled_words(tile, capability_major);
  build.estimate_moves = false;  // the figures contain them
  build.estimate_copy_addresses = false;
  for (const BackwardFigures& row :
       capability_major < 9 ? std::span<const BackwardFigures>(kRowsSm80) : kRowsSm90) {
    if (row.block == tile.block) {
      build.parts[{row.part, 0}] = {counted(row)};
    }
  }
  return build;
}

}  // namespace warpscope::kernels::xformers

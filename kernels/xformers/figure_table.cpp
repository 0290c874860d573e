#include "kernels/xformers/figure_table.hpp"

#include <array>

namespace warpscope::kernels::xformers {
namespace {

using trace::Opcode;

// PyTorch 2.11's builds of the kernels (CUDA 13.0), without bias and dropout, less what the program's text
// expands to, by the barriers between which instructions stand. sm_90: executed instructions of each line of
// the machine code (Nsight Compute on an H200, 2048 tokens, 8 heads, no mask), so that counts of instructions
// are in-sample there. sm_80: instructions on the same path through that machine code; the epilogue is taken
// from sm_90, and so are all rows of the kernel for any head dimension (head_dim 0). Builds of 2023 were not
// at hand. Chained are so many that the stall counts of a part add up to those of the machine code for sm_80,
// as far as there are integer instructions and moves (a bit mask of the 32 comparisons with the end of the
// keys passes through nearly all of those among the exponentials); control bits of the sm_90 code were not at
// hand. Columns: chained alu and fma, alu, fma, uniform, special, branch, dead load, dead matrix load,
// shuffle, spill load, spill store.
// clang-format off
constexpr std::array kRows = {
    FigureRow{8, 64, kPrologue, 0, 0, 114, 64, 162, 5, 5, 0, 0, 0, 0, 1},
    FigureRow{8, 64, kScores, 0, 0, 4, 3, 2, 1, 1, 0},
    FigureRow{8, 64, kQueryAddresses, 32, 0, 27, 22, 16, 16, 1, 2, 2, 1},
    FigureRow{8, 64, kScoreSlice, 0, 0, 6, 5, 2, 0, 0, 0},
    FigureRow{8, 64, kMaximum, 52, 0, 0, 14, 16, 1, 0, 3, 0, 0, 1},
    FigureRow{8, 64, kBranches, 16, 0, 27, 4, 0, 0, 0, 0},
    FigureRow{8, 64, kMask, 0, 0, 30, 0, 0, 0, 0, 0},
    FigureRow{8, 64, kRescaling, 8, 2, 0, 0, 0, 2, 2, 0},
    FigureRow{8, 64, kExponentials, 148, 37, 0, 0, 0, 12, 1, 0},
    FigureRow{8, 64, kProbabilities, 5, 3, 0, 0, 1, 1, 0, 0},
    FigureRow{8, 64, kOutput, 16, 8, 0, 0, 12, 1, 2, 0, 2},
    FigureRow{8, 64, kOutputSlice, 0, 0, 7, 5, 1, 0, 0, 0},
    FigureRow{8, 64, kNextBlock, 3, 0, 0, 0, 0, 1, 0, 0},
    FigureRow{8, 64, kEpilogue, 0, 0, 90, 66, 5, 21, 7, 0},
    FigureRow{8, 128, kPrologue, 0, 0, 109, 65, 163, 4, 5, 0},
    FigureRow{8, 128, kScores, 0, 0, 5, 3, 2, 0, 1, 0},
    FigureRow{8, 128, kQueryAddresses, 32, 0, 34, 21, 14, 16, 1, 3, 2, 1},
    FigureRow{8, 128, kScoreSlice, 0, 0, 6, 5, 2, 0, 0, 0},
    FigureRow{8, 128, kMaximum, 61, 0, 0, 24, 21, 0, 0, 3},
    FigureRow{8, 128, kBranches, 16, 0, 27, 4, 0, 0, 0, 0},
    FigureRow{8, 128, kMask, 0, 0, 30, 0, 0, 0, 0, 0},
    FigureRow{8, 128, kRescaling, 8, 2, 0, 0, 0, 2, 2, 0},
    FigureRow{8, 128, kExponentials, 150, 39, 0, 0, 0, 10, 1, 0},
    FigureRow{8, 128, kProbabilities, 5, 3, 0, 0, 2, 1, 0, 0},
    FigureRow{8, 128, kOutput, 12, 7, 0, 0, 12, 0, 2, 0, 2},
    FigureRow{8, 128, kOutputSlice, 0, 0, 6, 5, 4, 0, 0, 0},
    FigureRow{8, 128, kNextBlock, 3, 0, 0, 0, 2, 1, 0, 0},
    FigureRow{8, 128, kEpilogue, 0, 0, 68, 46, 8, 12, 7, 0},
    FigureRow{9, 64, kPrologue, 0, 0, 105, 57, 134, 5, 6, 0, 0, 0, 0, 1},
    FigureRow{9, 64, kScores, 0, 0, 14, 8, 6, 13, 1, 0, 0, 1},
    FigureRow{9, 64, kQueryAddresses, 32, 0, 15, 18, 16, 6, 1, 3, 2},
    FigureRow{9, 64, kScoreSlice, 0, 0, 7, 4, 2, 0, 0, 0},
    FigureRow{9, 64, kMaximum, 49, 0, 0, 12, 20, 3, 0, 3, 0, 0, 1},
    FigureRow{9, 64, kBranches, 16, 0, 28, 2, 1, 0, 0, 0},
    FigureRow{9, 64, kMask, 0, 0, 30, 0, 0, 0, 0, 0},
    FigureRow{9, 64, kRescaling, 10, 2, 0, 0, 0, 4, 2, 0},
    FigureRow{9, 64, kExponentials, 143, 41, 0, 0, 0, 12, 1, 0},
    FigureRow{9, 64, kProbabilities, 6, 3, 0, 0, 1, 2, 0, 0},
    FigureRow{9, 64, kOutput, 18, 8, 0, 0, 14, 1, 2, 0, 2},
    FigureRow{9, 64, kOutputSlice, 0, 0, 7, 5, 2, 0, 0, 0},
    FigureRow{9, 64, kNextBlock, 2, 0, 0, 0, 3, 0, 1, 0},
    FigureRow{9, 64, kEpilogue, 0, 0, 90, 66, 5, 21, 7, 0},
    FigureRow{9, 128, kPrologue, 0, 0, 100, 57, 135, 5, 6, 0},
    FigureRow{9, 128, kScores, 0, 0, 15, 5, 4, 14, 1, 0, 0, 1},
    FigureRow{9, 128, kQueryAddresses, 32, 0, 22, 19, 16, 5, 1, 3, 2},
    FigureRow{9, 128, kScoreSlice, 0, 0, 7, 4, 2, 0, 0, 0},
    FigureRow{9, 128, kMaximum, 64, 0, 0, 21, 22, 2, 0, 3},
    FigureRow{9, 128, kBranches, 16, 0, 29, 2, 1, 0, 0, 0},
    FigureRow{9, 128, kMask, 0, 0, 30, 0, 0, 0, 0, 0},
    FigureRow{9, 128, kRescaling, 8, 2, 0, 0, 0, 5, 2, 0},
    FigureRow{9, 128, kExponentials, 143, 43, 0, 0, 0, 10, 1, 0},
    FigureRow{9, 128, kProbabilities, 7, 3, 0, 0, 1, 2, 0, 0},
    FigureRow{9, 128, kOutput, 12, 6, 0, 0, 14, 1, 2, 0, 2},
    FigureRow{9, 128, kOutputSlice, 0, 0, 8, 5, 2, 0, 0, 0},
    FigureRow{9, 128, kNextBlock, 2, 0, 0, 0, 5, 0, 1, 0},
    FigureRow{9, 128, kEpilogue, 0, 0, 68, 46, 8, 12, 7, 0},
    FigureRow{8, 0, kPrologue, 0, 0, 115, 71, 163, 5, 9, 0},
    FigureRow{8, 0, kScores, 0, 0, 20, 6, 6, 13, 1, 0, 0, 1},
    FigureRow{8, 0, kQueryAddresses, 32, 0, 21, 29, 18, 6, 1, 3, 2},
    FigureRow{8, 0, kScoreSlice, 0, 0, 24, 7, 15, 0, 0, 9},
    FigureRow{8, 0, kMaximum, 52, 0, 43, 50, 46, 1, 0, 3},
    FigureRow{8, 0, kBranches, 16, 0, 33, 3, 1, 0, 0, 0},
    FigureRow{8, 0, kMask, 0, 0, 30, 0, 0, 0, 0, 0},
    FigureRow{8, 0, kRescaling, 9, 2, 0, 0, 0, 5, 2, 0},
    FigureRow{8, 0, kExponentials, 147, 41, 0, 0, 0, 2, 0, 0},
    FigureRow{8, 0, kProbabilities, 15, 9, 0, 0, 25, 3, 1, 0},
    FigureRow{8, 0, kOutput, 13, 4, 0, 0, 9, 16, 1, 0, 2},
    FigureRow{8, 0, kOutputSlice, 0, 0, 7, 5, 2, 0, 0, 0},
    FigureRow{8, 0, kAccumulate, 0, 0, 16, 7, 15, 9, 4, 0},
    FigureRow{8, 0, kNextValues, 32, 0, 32, 31, 18, 1, 0, 3},
    FigureRow{8, 0, kNextBlock, 4, 0, 0, 0, 6, 1, 3, 0},
    FigureRow{8, 0, kLogSumExp, 0, 0, 24, 14, 3, 3, 2, 0},
    FigureRow{9, 0, kPrologue, 0, 0, 115, 71, 163, 5, 9, 0},
    FigureRow{9, 0, kScores, 0, 0, 20, 6, 6, 13, 1, 0, 0, 1},
    FigureRow{9, 0, kQueryAddresses, 32, 0, 21, 29, 18, 6, 1, 3, 2},
    FigureRow{9, 0, kScoreSlice, 0, 0, 24, 7, 15, 0, 0, 9},
    FigureRow{9, 0, kMaximum, 52, 0, 43, 50, 46, 1, 0, 3},
    FigureRow{9, 0, kBranches, 16, 0, 33, 3, 1, 0, 0, 0},
    FigureRow{9, 0, kMask, 0, 0, 30, 0, 0, 0, 0, 0},
    FigureRow{9, 0, kRescaling, 9, 2, 0, 0, 0, 5, 2, 0},
    FigureRow{9, 0, kExponentials, 147, 41, 0, 0, 0, 2, 0, 0},
    FigureRow{9, 0, kProbabilities, 15, 9, 0, 0, 25, 3, 1, 0},
    FigureRow{9, 0, kOutput, 13, 4, 0, 0, 9, 16, 1, 0, 2},
    FigureRow{9, 0, kOutputSlice, 0, 0, 7, 5, 2, 0, 0, 0},
    FigureRow{9, 0, kAccumulate, 0, 0, 16, 7, 15, 9, 4, 0},
    FigureRow{9, 0, kNextValues, 32, 0, 32, 31, 18, 1, 0, 3},
    FigureRow{9, 0, kNextBlock, 4, 0, 0, 0, 6, 1, 3, 0},
    FigureRow{9, 0, kLogSumExp, 0, 0, 24, 14, 3, 3, 2, 0},
};
// clang-format on

std::vector<CountedInstruction> present(std::vector<CountedInstruction> instructions) {
  std::erase_if(instructions, [](const CountedInstruction& counted) { return counted.count == 0; });
  return instructions;
}

}  // namespace

std::span<const FigureRow> figure_rows() {
  return kRows;
}

std::vector<CountedInstruction> chained_instructions(const FigureRow& row) {
  return present({{Opcode::LOP3, row.chained_alu}, {Opcode::IMAD_MOV, row.chained_fma}});
}

std::vector<CountedInstruction> spread_instructions(const FigureRow& row) {
  return present({{Opcode::LOP3, row.alu},
                  {Opcode::IMAD_MOV, row.fma},
                  {Opcode::UIADD3, row.uniform},
                  {Opcode::NOP, row.special},
                  {Opcode::BRA, row.branch},
                  {Opcode::LDS_32, row.dead_load},
                  {Opcode::LDSM_X4, row.dead_matrix_load},
                  {Opcode::SHFL_IDX, row.shuffle},
                  {Opcode::LDL, row.spill_load},
                  {Opcode::STL, row.spill_store}});
}

}  // namespace warpscope::kernels::xformers

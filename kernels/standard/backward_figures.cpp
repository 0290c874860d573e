#include <utility>

#include "kernels/standard/build_figures.hpp"

namespace warpscope::kernels::standard {
namespace {

using trace::Opcode;

// Source of all figures: warp instructions per warp and per pipe of PyTorch 2.11 on H200
// (experiments/reference/measured-h200/standard_backward.md), minus what the operations of the program text
// are. The pipes are counted, the kinds within a pipe are not known. Instructions that no pipe counter
// attributes stand as NOP.

BuildFigures figures(std::map<std::pair<int, int>, CountedPart> parts) {
  return {.estimate_moves = false, .parts = std::move(parts)};
}

}  // namespace

BuildFigures vectorized_product_figures() {
  // 50 in all: ALU 7, FMA 30, LSU 4, constants 5.
  return figures({{{kText, 0},
                   {{.spread = {{Opcode::IMAD, 3},
                                {Opcode::IMAD_WIDE, 3},
                                {Opcode::S2R, 1},
                                {Opcode::LDC, 5},
                                {Opcode::NOP, 3}}}}}});
}

BuildFigures warp_softmax_backward_figures(int elements, bool two_rows, bool cuda_11) {
  // Straight lines through rows of 32 to 1024 columns; the second row of short ones has its own bounds
  // checks. CUDA 11.8's code for sm_80 has 6 to 16 instructions less, constants among them
  // (experiments/reference/machine-code/pytorch_2023.csv).
  const int fewer = cuda_11 && !two_rows ? 4 : 0;
  const int selections = cuda_11 && two_rows ? 2 : 2 * elements;
  return figures({{{kText, 0},
                   {{.spread = {{Opcode::ISETP, elements},
                                {Opcode::SEL, selections},
                                {Opcode::IADD3, elements + (two_rows ? 14 : 9) - fewer},
                                {Opcode::IMAD, elements * 2 / 3 + 8 - fewer},
                                {Opcode::S2R, 3},
                                {Opcode::LDC, cuda_11 && !two_rows ? 1 : 6},
                                {Opcode::NOP, two_rows ? 8 : 5}}}}}});
}

BuildFigures block_softmax_backward_figures(bool cached) {
  if (cached) {
    // 207 for 2048 columns: ALU 62, FMA 96, of which 15 and 44 are a round.
    return figures(
        {{{kPass, 0},
          {{.spread = {{Opcode::ISETP, 8},
                       {Opcode::IADD3, 16},
                       {Opcode::LOP3, 8},
                       {Opcode::S2R, 2},
                       {Opcode::LDC, 8},
                       {Opcode::NOP, 12}}}}},
         {{kRound, 0}, {{.spread = {{Opcode::ISETP, 1}, {Opcode::IADD3, 2}, {Opcode::IMAD, 2}}}}},
         {{kRound, 1}, {{.spread = {{Opcode::ISETP, 1}, {Opcode::IADD3, 4}, {Opcode::IMAD, 2}}}}}});
  }
  // 625 for 32768 columns: ALU 106, FMA 394, uniform 24, XU 6 for the remainder of the row's length.
  const CountedPart round = {
      {.spread = {{Opcode::ISETP, 1}, {Opcode::IADD3, 1}, {Opcode::IMAD, 4}, {Opcode::ULDC, 1}}}};
  return figures({{{kPass, 0},
                   {{.spread = {{Opcode::ISETP, 4},
                                {Opcode::IADD3, 6},
                                {Opcode::IMAD, 5},
                                {Opcode::MUFU_RCP, 6},
                                {Opcode::LDC, 7},
                                {Opcode::NOP, 38}}}}},
                  {{kRound, 0}, round},
                  {{kRound, 1}, round}});
}

BuildFigures concatenation_figures() {
  // 85.4 a round: ALU 42, FMA 40, the load, the store and the loop's branch. An index goes through three
  // divisions, each of which needs the one before.
  return figures(
      {{{kRound, 0},
        {{.chain = {{Opcode::IADD3, 24}, {Opcode::ISETP, 9}, {Opcode::LOP3, 9}, {Opcode::IMAD, 40}}}}}});
}

}  // namespace warpscope::kernels::standard

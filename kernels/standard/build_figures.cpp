#include "kernels/standard/build_figures.hpp"

#include <utility>

namespace warpscope::kernels::standard {
namespace {

using trace::Opcode;

// Source of all figures: warp instructions per warp and per pipe of PyTorch 2.11 on H200 (measured counters,
// rows standard_eager, N = 2048), minus what the operations of the program text are. Instructions that no
// pipe counter attributes stand as NOP: they take an issue slot and nothing else.

BuildFigures figures(std::map<std::pair<int, int>, CountedPart> parts) {
  return {.estimate_moves = false, .parts = std::move(parts)};
}

// 36 per call, by counters (causal rows against others) and in the machine code of softmax_warp_forward, from
// the call to the return by way of the branches that a numerator of zero takes. The loop's branch is the
// return.
CountedPart division_subroutine() {
  return {
      {.spread = {{Opcode::MOV, 4}}, .end = BlockEnd::branch},
      // Whether the exponent of one operand is out of range.
      {.spread =
           {{Opcode::SHF, 1}, {Opcode::LOP3, 1}, {Opcode::IADD3, 1}, {Opcode::IMAD_MOV, 1}, {Opcode::NOP, 1}},
       .chain = {{Opcode::SHF, 1}, {Opcode::LOP3, 1}, {Opcode::IADD3, 1}, {Opcode::ISETP, 2}},
       .end = BlockEnd::branch},
      // No NaN, not both zero, not infinite, but zero. PLOP3: logic whose result is a predicate.
      {.spread = {{Opcode::FSETP, 1}},
       .chain = {{Opcode::FSETP, 1}, {Opcode::PLOP3, 1}},
       .end = BlockEnd::branch},
      {.chain = {{Opcode::PLOP3, 1}}, .end = BlockEnd::branch},
      {.spread = {{Opcode::FSETP, 2}}, .chain = {{Opcode::FSETP, 1}}, .end = BlockEnd::branch},
      {.chain = {{Opcode::PLOP3, 2}}, .end = BlockEnd::branch},
      {.chain = {{Opcode::LOP3, 1}}, .end = BlockEnd::branch},
      {.spread = {{Opcode::BSYNC, 1}}, .end = BlockEnd::join},
      {.spread = {{Opcode::MOV, 1}, {Opcode::NOP, 1}}, .chain = {{Opcode::MOV, 1}}}};
}

}  // namespace

BuildFigures vectorized_figures() {
  // 39 in all: ALU 7, FMA 20, LSU 3 (S2R among them), constant and control path the rest.
  return figures({{{kText, 0},
                   {{.spread = {{Opcode::ISETP, 1},
                                {Opcode::IMAD, 2},
                                {Opcode::IMAD_WIDE, 2},
                                {Opcode::S2R, 1},
                                {Opcode::LDC, 4},
                                {Opcode::NOP, 4}}}}}});
}

// Source of the next two (experiments/reference/machine-code/pytorch_2023.csv): the kernel's text with
// PyTorch 2.0's constants, compiled by CUDA 11.8 for sm_80, from the first instruction to EXIT in a CTA that
// has all its elements: 26 for two tensors, 33 for three, 17 for bytes.
BuildFigures four_element_figures(int tensors) {
  BuildFigures build =
      figures({{{kText, 0},
                {{.spread = {{Opcode::IMAD_MOV, 1}, {Opcode::ULDC, 1}, {Opcode::S2R, 1}},
                  .chain = {{Opcode::S2R, 1}, {Opcode::IMAD, 1}, {Opcode::IADD3, 1}, {Opcode::ISETP, 1}},
                  .end = BlockEnd::branch},
                 {.spread = {{Opcode::IMAD_MOV, 1}, {Opcode::IMAD_WIDE, 2 * tensors}}}}}});
  build.estimate_tile_addresses = false;
  return build;
}

BuildFigures byte_fill_figures() {
  BuildFigures build = figures(
      {{{kText, 0},
        {{.spread = {{Opcode::IMAD_MOV, 1}, {Opcode::ULDC, 1}, {Opcode::LDC, 1}, {Opcode::S2R, 1}},
          .chain = {{Opcode::S2R, 1}, {Opcode::IMAD, 1}, {Opcode::IADD3, 1}, {Opcode::ISETP, 1}},
          .end = BlockEnd::branch},
         {.spread = {{Opcode::IADD3, 1}, {Opcode::IMAD, 1}, {Opcode::IMAD_WIDE, 1}, {Opcode::PRMT, 2}}}}}});
  build.estimate_tile_addresses = false;
  return build;
}

BuildFigures warp_softmax_figures(int elements, bool cuda_11) {
  // 2476 per row of 2048 (64 elements per lane). CUDA 11.8's code for sm_80: 633 for 16 elements per lane,
  // 1225 for 32 (experiments/reference/machine-code/pytorch_2023.csv). What follows a division is the same in
  // both (softmax_warp.md).
  return figures(
      {{{kText, 0},
        {{.spread = {{Opcode::IADD3, cuda_11 ? 0 : elements},
                     {Opcode::IMAD, cuda_11 ? 18 : 17},
                     {Opcode::S2R, 1},
                     {Opcode::LDC, cuda_11 ? 2 : 5}}}}},
       // Is the row's sum zero?
       {{kDivisions, 0}, {{.spread = {{Opcode::BSSY, 1}}, .end = BlockEnd::branch}}},
       // Past what a sum of zero gives.
       {{kQuotient, 0}, {{.end = BlockEnd::branch}, {.spread = {{Opcode::BSYNC, 1}}, .end = BlockEnd::join}}},
       // Does the thread's row end here? The branch is EXIT.
       {{kNextElement, 0},
        {{.spread = {{Opcode::ULDC, 1}},
          .chain = {{Opcode::S2R, 1}, {Opcode::IADD3, 1}, {Opcode::ISETP, 1}},
          .end = BlockEnd::branch}}},
       {{kDivisionSubroutine, 0}, division_subroutine()}});
}

BuildFigures block_softmax_figures(int elements, bool cached) {
  // Source: a three-pass kernel of this form on H200 (experiments/reference/measured-h200/softmax.md), N =
  // 2048: 811 per warp of 16 elements per lane: FMA 427, ALU 147, XU 70 (two a pass for the remainder of the
  // row's length), branches and joins 51, minus what the operations of the program text are.
  const CountedPart global_pass = {{.spread = {{Opcode::ISETP, 8},
                                               {Opcode::IADD3, 7},
                                               {Opcode::LOP3, 6},
                                               {Opcode::IMAD, 13},
                                               {Opcode::MUFU_RCP, 2},
                                               {Opcode::NOP, 25}}}};
  // Machine code of cunn_SoftMaxForwardSmem, which divides nothing by the row's length (there): a third of
  // what is left of 730 instructions for 16 elements per lane.
  const CountedPart shared_pass = {{.spread = {{Opcode::ISETP, 5},
                                               {Opcode::IADD3, 8},
                                               {Opcode::LOP3, 1},
                                               {Opcode::SHF, 4},
                                               {Opcode::MOV, 5},
                                               {Opcode::IMAD, 8},
                                               {Opcode::LDC, 1},
                                               {Opcode::NOP, 9}}}};
  const CountedPart& pass = cached ? shared_pass : global_pass;
  // One bounds check and one address per 16-byte piece, as the source's vector loop has.
  const int pieces = (elements + 7) / 8;
  const CountedPart round = {
      {.spread = {{Opcode::ISETP, pieces}, {Opcode::IADD3, pieces}, {Opcode::IMAD_WIDE, pieces}}}};
  return figures(
      {{{kPass, 0}, pass}, {{kRound, 0}, round}, {{kDivisionSubroutine, 0}, division_subroutine()}});
}

BuildFigures register_softmax_figures(int elements) {
  // Source: machine code of cunn_SoftMaxForwardReg for 3, 4 and 8 elements and how often its lines ran on
  // H200 (experiments/reference/measured-h200/softmax.md), less what the operations of the program text are.
  BuildFigures build;
  build.estimate_moves = false;
  build.estimate_tile_addresses = false;
  // Whether a column exists is a predicate each; with eight they move to a register and back.
  constexpr int kPredicates = 7;
  const int moved = elements > kPredicates ? elements : 0;
  build.parts[{kText, 0}] = {{.spread = {{Opcode::S2R, 3},
                                         {Opcode::LDC, 2 + elements},
                                         {Opcode::ULDC, 2},
                                         {Opcode::SHF, 3 + elements},
                                         {Opcode::ISETP, 1 + 2 * elements + moved},
                                         {Opcode::IADD3, 2 + 3 * elements},
                                         {Opcode::LOP3, 1 + moved},
                                         {Opcode::IMAD_WIDE, elements},
                                         {Opcode::IMAD, elements},
                                         {Opcode::NOP, 3}}}};
  // A maximum of two lanes is a comparison and a selection.
  build.parts[{kShuffles, 0}] = {{.spread = {{Opcode::ISETP, 6}, {Opcode::IADD3, 2}}}};
  build.parts[{kShuffles, 1}] = {
      {.end = BlockEnd::join},
      {.spread = {{Opcode::ISETP, 1}, {Opcode::IADD3, 1}, {Opcode::MOV, 1}, {Opcode::NOP, 1}}}};
  // Load and store of the first warp are under a predicate; the others issue them too.
  build.parts[{kFirstWarp, 0}] = {
      {.spread = {{Opcode::ISETP, 2}, {Opcode::LOP3, 2}, {Opcode::IADD3, 1}, {Opcode::NOP, 5}},
       .end = BlockEnd::branch}};
  build.parts[{kFirstWarp, 1}] = {
      {.spread = {{Opcode::ISETP, 1}, {Opcode::NOP, 4}}, .end = BlockEnd::branch}};
  // Elements beyond the row are left out by a branch around each.
  build.parts[{kExponential, 0}] = {{.end = BlockEnd::branch},
                                    {.spread = {{Opcode::IMAD_MOV, 1}, {Opcode::NOP, 2}}}};
  build.parts[{kDivisions, 0}] = {{.end = BlockEnd::branch},
                                  {.spread = {{Opcode::MOV, 1}, {Opcode::IMAD_MOV, 1}, {Opcode::NOP, 1}}}};
  const CountedBlock address = {
      .spread = {{Opcode::ULDC, 1}, {Opcode::NOP, 1}},
      .chain = {{Opcode::LDC, 1}, {Opcode::IMAD_WIDE, 1}, {Opcode::IMAD, 1}, {Opcode::IADD3, 2}}};
  // Eight elements leave no registers for their columns, so that all but the first are computed again; where
  // between four and eight that begins was not seen.
  constexpr int kMostKeptColumns = 4;
  const CountedBlock again = {
      .chain = {{Opcode::S2R, 1}, {Opcode::LDC, 1}, {Opcode::IADD3, 1}, {Opcode::SHF, 2}}};
  build.parts[{kStoreAddress, 0}] = {address};
  build.parts[{kStoreAddress, 1}] =
      elements > kMostKeptColumns ? CountedPart{again, address} : CountedPart{address};
  build.parts[{kDivisionSubroutine, 0}] = division_subroutine();
  return build;
}

// Source: cutlass_80_tensorop_f16_s16816gemm_relu_f16_* of cuBLAS on H200
// (experiments/reference/measured-h200/gemm.md): instructions per warp that do not grow with K, of tiles with
// 128, 64 and 32 outputs per thread, less what copies take. A straight line through them gives what comes
// once (545: ALU 277, FMA 108) and what comes per output (5: ALU 2.6, FMA 1.4).
BuildFigures gemm_figures(int outputs) {
  BuildFigures build;
  build.parts[{kSetup, 0}] = {{.chain = {{Opcode::IADD3, 100},
                                         {Opcode::LOP3, 77},
                                         {Opcode::ISETP, 50},
                                         {Opcode::SHF, 50},
                                         {Opcode::IMAD, 108},
                                         {Opcode::S2R, 4},
                                         {Opcode::LDC, 8},
                                         {Opcode::NOP, 148}},
                               .end = BlockEnd::branch}};
  // Less what the operations of the program text are, half a rounding and the scaling among them. The kernel
  // has an activation built in, one maximum per output.
  build.parts[{kSlice, 0}] = {{.spread = {{Opcode::FMNMX, outputs},
                                          {Opcode::IADD3, outputs / 2},
                                          {Opcode::ISETP, outputs / 2},
                                          {Opcode::IMAD, outputs * 2 / 5},
                                          {Opcode::NOP, outputs / 8}}}};
  return build;
}

}  // namespace warpscope::kernels::standard

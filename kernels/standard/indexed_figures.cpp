#include "kernels/standard/indexed_figures.hpp"

#include "kernels/standard/build_figures.hpp"

namespace warpscope::kernels::standard {
namespace {

using trace::Opcode;

// Source of all: machine code of these kernels (headers of PyTorch 2.11) compiled for sm_80, and that of the
// library's own for sm_90 (experiments/reference/measured-h200/elementwise.md).

/// Is there such an element, is there a dimension; the next index; offsets of zero.
CountedBlock check(const IndexArithmetic& arithmetic) {
  return {.spread = {{Opcode::ISETP, 1}, {Opcode::IMAD_MOV, 1}, {Opcode::MOV, 2}, {Opcode::IADD3, 1}},
          .chain = {{Opcode::LDC, arithmetic.uniform_parameters ? 1 : 0}, {Opcode::ISETP, 1}},
          .end = BlockEnd::branch};
}

/// One magic division, the other tensors' offsets and the test for the last dimension.
CountedBlock split_off(const IndexArithmetic& arithmetic, int dimension) {
  // The zero that widens a quotient is made on both pipes by turns; the first comes with the check.
  const CountedInstruction zero{dimension % 2 == 0 ? Opcode::IMAD_MOV : Opcode::MOV, dimension > 0 ? 1 : 0};
  return {.spread = {{Opcode::IMAD, arithmetic.tensors - 1},
                     zero,
                     {Opcode::ISETP, 1},
                     {Opcode::ULDC, arithmetic.uniform_parameters ? arithmetic.tensors + 1 : 0}},
          // High product, shift: the quotient; the rest of the division; a first offset.
          .chain = {{Opcode::IMAD_WIDE, 1},
                    {Opcode::SHF, 1},
                    {Opcode::IADD3, 1},
                    {Opcode::IMAD, 1},
                    {Opcode::IMAD, 1}},
          .end = BlockEnd::branch};
}

CountedBlock addresses(const IndexArithmetic& arithmetic) {
  return {.spread = {{Opcode::IADD3, 2 * (arithmetic.tensors - 1)},
                     {Opcode::ULDC, arithmetic.uniform_parameters ? arithmetic.tensors : 0}},
          .chain = {{Opcode::IADD3, 1}, {Opcode::IADD3, 1}},  // low and high word
          .end = BlockEnd::join};
}

}  // namespace

BuildFigures indexed_figures(const IndexArithmetic& arithmetic) {
  BuildFigures build;
  build.estimate_moves = false;
  // Two of the four bounds checks open a region where threads part.
  build.parts[{kFirstIndex, 0}] = {{.spread = {{Opcode::S2R, 2},
                                               {Opcode::LDC, 1 + arithmetic.scalars},
                                               {Opcode::ULDC, 2},
                                               {Opcode::BSSY, 2},
                                               {Opcode::BSYNC, 2}}}};
  CountedPart& element = build.parts[{kElement, 0}];
  element.push_back({.end = BlockEnd::branch});
  element.push_back(check(arithmetic));
  for (int dimension = 0; dimension < arithmetic.dimensions; ++dimension) {
    element.push_back(split_off(arithmetic, dimension));
  }
  element.push_back(addresses(arithmetic));
  return build;
}

}  // namespace warpscope::kernels::standard

#include "kernels/standard/index_arithmetic.hpp"

#include <array>

namespace warpscope::kernels::standard {
namespace {

using trace::Opcode;

// Source of all: machine code of these kernels (headers of PyTorch 2.11) compiled for sm_80, and that of the
// library's own for sm_90 (experiments/reference/measured-h200/elementwise.md).

// High product, shift: the quotient; the rest of the division; a first offset.
constexpr std::array kDivision = {
    CountedInstruction{Opcode::IMAD_WIDE, 1}, CountedInstruction{Opcode::SHF, 1},
    CountedInstruction{Opcode::IADD3, 1},     CountedInstruction{Opcode::IMAD, 1},
    CountedInstruction{Opcode::IMAD, 1},
};

// Low and high word.
constexpr std::array kAddress = {
    CountedInstruction{Opcode::IADD3, 1},
    CountedInstruction{Opcode::IADD3, 1},
};

/// Is there such an element, is there a dimension; the next index; offsets of zero.
void check(CtaMachine& machine, const IndexArithmetic& arithmetic) {
  machine.end_block();
  constexpr std::array bounds = {
      CountedInstruction{Opcode::ISETP, 1},
      CountedInstruction{Opcode::IMAD_MOV, 1},
      CountedInstruction{Opcode::MOV, 2},
      CountedInstruction{Opcode::IADD3, 1},
  };
  machine.overhead(bounds);
  const std::array dimensions = {
      CountedInstruction{Opcode::LDC, arithmetic.uniform_parameters ? 1 : 0},
      CountedInstruction{Opcode::ISETP, 1},
  };
  machine.overhead_chain(dimensions);
}

/// One magic division, the other tensors' offsets and the test for the last dimension.
void split_off(CtaMachine& machine, const IndexArithmetic& arithmetic, int dimension) {
  machine.end_block();
  machine.overhead_chain(kDivision);
  // The zero that widens a quotient is made on both pipes by turns; the first comes with the check.
  const std::array rest = {
      CountedInstruction{Opcode::IMAD, arithmetic.tensors - 1},
      CountedInstruction{dimension % 2 == 0 ? Opcode::IMAD_MOV : Opcode::MOV, dimension > 0 ? 1 : 0},
      CountedInstruction{Opcode::ISETP, 1},
      CountedInstruction{Opcode::ULDC, arithmetic.uniform_parameters ? arithmetic.tensors + 1 : 0},
  };
  machine.overhead(rest);
}

void compute_addresses(CtaMachine& machine, const IndexArithmetic& arithmetic) {
  machine.end_block();
  machine.overhead_chain(kAddress);
  const std::array others = {
      CountedInstruction{Opcode::IADD3, 2 * (arithmetic.tensors - 1)},
      CountedInstruction{Opcode::ULDC, arithmetic.uniform_parameters ? arithmetic.tensors : 0},
  };
  machine.overhead(others);
  machine.join_block();
}

}  // namespace

void begin_elements(CtaMachine& machine, const IndexArithmetic& arithmetic) {
  // Two of the four bounds checks open a region where threads part.
  const std::array first_index = {
      CountedInstruction{Opcode::S2R, 2},  CountedInstruction{Opcode::LDC, 1 + arithmetic.scalars},
      CountedInstruction{Opcode::ULDC, 2}, CountedInstruction{Opcode::BSSY, 2},
      CountedInstruction{Opcode::NOP, 2},
  };
  machine.overhead(first_index);
}

void find_element(CtaMachine& machine, const IndexArithmetic& arithmetic) {
  check(machine, arithmetic);
  for (int dimension = 0; dimension < arithmetic.dimensions; ++dimension) {
    split_off(machine, arithmetic, dimension);
  }
  compute_addresses(machine, arithmetic);
}

}  // namespace warpscope::kernels::standard

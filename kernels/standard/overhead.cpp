#include "kernels/standard/overhead.hpp"

#include <array>

namespace warpscope::kernels::standard {
namespace {

using trace::Opcode;

// Source of all figures: warp instructions per warp and per pipe of PyTorch 2.11 on H200 (measured counters,
// rows standard_eager, N = 2048), minus what the operations of the program text are. Instructions that no
// pipe counter attributes stand as NOP: they take an issue slot and nothing else.

// 39 in all: ALU 7, FMA 20, LSU 3 (S2R among them), constant and control path the rest.
constexpr std::array kVectorized = {
    CountedInstruction{Opcode::ISETP, 1},     CountedInstruction{Opcode::IMAD, 2},
    CountedInstruction{Opcode::IMAD_WIDE, 2}, CountedInstruction{Opcode::S2R, 1},
    CountedInstruction{Opcode::LDC, 4},       CountedInstruction{Opcode::NOP, 4},
};

// 36 per call: causal rows against others, over the calls that masked scores cause.
constexpr std::array kDivisionSubroutine = {
    CountedInstruction{Opcode::ISETP, 6}, CountedInstruction{Opcode::LOP3, 6},
    CountedInstruction{Opcode::SHF, 4},   CountedInstruction{Opcode::IADD3, 5},
    CountedInstruction{Opcode::SEL, 3},   CountedInstruction{Opcode::IMAD, 1},
    CountedInstruction{Opcode::NOP, 10},
};

}  // namespace

std::span<const CountedInstruction> vectorized_overhead() {
  return kVectorized;
}
std::span<const CountedInstruction> division_subroutine() {
  return kDivisionSubroutine;
}

std::vector<CountedInstruction> warp_softmax_overhead(int elements) {
  // 2476 per row of 2048 (64 elements per lane). Per element 9 ALU, 14 FMA, 3 XU, 9 branches and joins; 64
  // shared-path instructions of unknown kind are counted as NOP.
  return {{Opcode::ISETP, elements},
          {Opcode::IADD3, 3 * elements},
          {Opcode::NOP, 9 * elements},
          {Opcode::IMAD, 18},
          {Opcode::S2R, 1},
          {Opcode::LDC, 5}};
}

std::vector<CountedInstruction> block_softmax_overhead(int elements) {
  // One bounds check and one address per 16-byte piece, as the source's vector loop has.
  const int pieces = (elements + 7) / 8;
  return {{Opcode::ISETP, pieces}, {Opcode::IADD3, pieces}, {Opcode::IMAD_WIDE, pieces}};
}

// Source: a three-pass kernel of this form on H200 (experiments/reference/measured-h200/softmax.md), N =
// 2048: 811 per warp of 16 elements per lane: FMA 427, ALU 147, XU 70 (two a pass for the remainder of the
// row's length), branches and joins 51, minus what the operations of the program text are.
std::span<const CountedInstruction> block_softmax_pass_overhead() {
  static constexpr std::array kPass = {
      CountedInstruction{Opcode::ISETP, 8},    CountedInstruction{Opcode::IADD3, 7},
      CountedInstruction{Opcode::LOP3, 6},     CountedInstruction{Opcode::IMAD, 13},
      CountedInstruction{Opcode::MUFU_RCP, 2}, CountedInstruction{Opcode::NOP, 25},
  };
  return kPass;
}

std::vector<CountedInstruction> division_branches(int elements) {
  // BSSY and BSYNC; the branch itself belongs to the division.
  return {{Opcode::NOP, 2 * elements}};
}

// Source: cutlass_80_tensorop_f16_s16816gemm_relu_f16_* of cuBLAS on H200
// (experiments/reference/measured-h200/gemm.md): instructions per warp that do not grow with K, of tiles with
// 128, 64 and 32 outputs per thread, less what copies take. A straight line through them gives what comes
// once (545: ALU 277, FMA 108) and what comes per output (5: ALU 2.6, FMA 1.4).
std::span<const CountedInstruction> gemm_setup_overhead() {
  static constexpr std::array kSetup = {
      CountedInstruction{Opcode::IADD3, 100}, CountedInstruction{Opcode::LOP3, 77},
      CountedInstruction{Opcode::ISETP, 50},  CountedInstruction{Opcode::SHF, 50},
      CountedInstruction{Opcode::IMAD, 108},  CountedInstruction{Opcode::S2R, 4},
      CountedInstruction{Opcode::LDC, 8},     CountedInstruction{Opcode::NOP, 148},
  };
  return kSetup;
}

// Less what the operations of the program text are, half a rounding and the scaling among them. The kernel
// has an activation built in, one maximum per output.
std::vector<CountedInstruction> gemm_epilogue_overhead(int outputs) {
  return {{Opcode::FMNMX, outputs},
          {Opcode::IADD3, outputs / 2},
          {Opcode::ISETP, outputs / 2},
          {Opcode::IMAD, outputs * 2 / 5},
          {Opcode::NOP, outputs / 8}};
}

}  // namespace warpscope::kernels::standard

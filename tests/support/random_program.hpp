// Programs that mix everything a warp can do, the same ones on every run.
#pragma once

#include <cstdint>
#include <random>

#include "tests/support/trace_builder.hpp"

namespace warpscope::test {

class RandomProgram {
 public:
  explicit RandomProgram(std::uint32_t seed) : random_(seed) {}

  /// About `length` instructions with up to two nested loops (trip slots 0 and 1) on tensor 0, stores to
  /// tensor 1. `barriers` at the top level only, so that all warps pass equally many.
  trace::WarpProgram make(int length, bool barriers, bool controlled) {
    Program program("random");
    int depth = 0;
    for (int i = 0; i < length; ++i) {
      const std::uint32_t kind = below(24);
      if (kind == 0 && depth < 2) {
        program.begin_loop(static_cast<std::uint16_t>(depth++)).op(trace::Opcode::NOP);
      } else if (kind == 1 && depth > 0) {
        program.end_loop();
        --depth;
      } else if (kind == 2 && barriers && depth == 0) {
        program.op(trace::Opcode::BAR_SYNC).immediate(static_cast<std::uint16_t>(below(3)));
      } else {
        add(program, kind);
      }
      if (controlled) {
        control(program);
      }
    }
    for (; depth > 0; --depth) {
      program.end_loop();
    }
    program.exit();
    return controlled ? program.build_controlled() : program.build();
  }

 private:
  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(random_()) % n; }

  void add(Program& program, std::uint32_t kind) {
    using enum trace::Opcode;
    const auto reg = [&] { return static_cast<std::uint16_t>(below(12)); };
    trace::MemoryOperand operand;
    operand.offset.offset = static_cast<std::int64_t>(below(64)) * 512;
    operand.offset.per_iteration = {4096, 512, 0};
    operand.offset.per_warp = 128;
    operand.offset.per_block = {8192, 0, 0};
    switch (kind) {
      case 3:
      case 4:
        program.op(HMMA_16816_F32).writes(8, 4).reads(reg());
        break;
      case 5:
        program.op(MUFU_EX2).writes(reg()).reads(reg());
        break;
      case 6:
        program.op(LDSM_X4).writes(4, 4).shared(512, 4);
        break;
      case 7:
        program.op(STS_32).shared(128, static_cast<std::uint16_t>(1 + below(4))).reads(reg());
        break;
      case 8:
        program.op(SHFL_BFLY).writes(reg()).reads(reg());
        break;
      case 9:
      case 10:
        operand.tensor = 0;
        operand.bytes = 512;
        program.op(below(2) == 0 ? LDG_128 : LDGSTS_128).memory(operand);
        break;
      case 11:
        program.op(LDGDEPBAR);
        break;
      case 12:
        program.op(DEPBAR_LE).immediate(static_cast<std::uint16_t>(below(3)));
        break;
      case 13:
        operand.tensor = 1;
        operand.bytes = 128;
        program.op(STG_32).memory(operand).reads(reg());
        break;
      case 14:
      case 15:
        program.op(FMNMX).writes(reg()).reads(reg());
        break;
      case 16:
        program.op(IMAD).writes(reg()).reads(reg()).reads(reg());
        break;
      case 17:
        program.op(UIADD3);
        break;
      case 18:
        program.op(below(2) == 0 ? LDC : ULDC).immediate(static_cast<std::uint16_t>(below(32)));
        break;
      default:
        program.op(FFMA).writes(reg()).reads(reg()).reads(reg());
    }
  }

  void control(Program& program) {
    program.stall(static_cast<std::uint8_t>(1 + below(5)));
    if (below(3) == 0) {
      program.sets(static_cast<std::uint8_t>(below(trace::kScoreboards)));
    }
    if (below(3) == 0) {
      program.waits_for(static_cast<std::uint8_t>(below(trace::kScoreboards)));
    }
  }

  std::mt19937 random_;
};

inline std::vector<trace::Tensor> random_program_tensors() {
  return {tensor("in", 1 << 24), tensor("out", 1 << 24, 1, trace::TensorKind::output)};
}

}  // namespace warpscope::test

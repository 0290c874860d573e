// What the trace machine makes of an operation on one register.
#include "kernels/compiler/trace_machine.hpp"

namespace warpscope::kernels {

using trace::Opcode;

void TraceMachine::emit_exp2(Range target, Range source) {
  if (launch_.build.math.fast_exp2) {
    emitter_.emit(Opcode::MUFU_EX2, target, {source});
    return;
  }
  // exp2f without fast math: small arguments are scaled up and the result scaled back, under a predicate.
  const Range small = emitter_.temporary_predicate();
  emitter_.emit(Opcode::FSETP, small, {source});
  emitter_.emit(Opcode::FMUL, target, {source, small});
  emitter_.emit(Opcode::MUFU_EX2, target, {target});
  emitter_.emit(Opcode::FMUL, target, {target, small});
}

// Two branches, past all of it for a sum of nothing and past a subroutine for what is neither tiny nor huge,
// across which the compiler moves nothing.
void TraceMachine::emit_tested_reciprocal(Range target, Range source) {
  const Range empty = emitter_.temporary_predicate();
  emitter_.emit(Opcode::FSETP, empty, {source});
  emitter_.emit(Opcode::BSSY, {}, {});
  emitter_.emit(Opcode::BRA, {}, {empty});
  emitter_.end_block(false);
  const Range exponent = emitter_.temporary(1);
  const Range ordinary = emitter_.temporary_predicate();
  emitter_.emit(Opcode::BSSY, {}, {});
  emitter_.emit(Opcode::IADD3, exponent, {source});
  emitter_.emit(Opcode::LOP3, exponent, {exponent});
  emitter_.emit(Opcode::ISETP, ordinary, {exponent});
  emitter_.emit(Opcode::BRA, {}, {ordinary});
  emitter_.end_block(false);
  const Range inverse = emitter_.temporary(1);
  const Range error = emitter_.temporary(1);
  emitter_.emit(Opcode::MUFU_RCP, inverse, {source});
  emitter_.emit(Opcode::FFMA, error, {source, inverse});
  emitter_.emit(Opcode::FADD, error, {error});
  emitter_.emit(Opcode::FFMA, target, {inverse, error});
  emitter_.emit(Opcode::BSYNC, {}, {});
  emitter_.end_block(false);
}

// Small arguments are scaled up. It ends where the paths of the reciprocal's first branch meet.
void TraceMachine::emit_tested_logarithm(Range target, Range source) {
  const Range small = emitter_.temporary_predicate();
  emitter_.emit(Opcode::FSETP, small, {source});
  emitter_.emit(Opcode::FMUL, target, {source, small});
  emitter_.emit(Opcode::MUFU_LG2, target, {target});
  emitter_.emit(Opcode::FADD, target, {target, small});
  emitter_.emit(Opcode::FMUL, target, {target});
  emitter_.emit(Opcode::BSYNC, {}, {});
  emitter_.end_block(false);
}

void TraceMachine::emit_unary(UnaryOp op, Range target, Range source) {
  switch (op) {
    case UnaryOp::copy:
      emitter_.emit(Opcode::MOV, target, {source});
      return;
    case UnaryOp::exp2:
      emit_exp2(target, source);
      return;
    case UnaryOp::exp: {
      // Range reduction by two multiply-adds, then a power of two times the exponential of the rest.
      const Range power = emitter_.temporary(1);
      const Range rest = emitter_.temporary(1);
      emitter_.emit(Opcode::FFMA, power, {source, CodeEmitter::shared_base()});
      emitter_.emit(Opcode::FADD, rest, {power});
      emitter_.emit(Opcode::FFMA, rest, {source, rest});
      emitter_.emit(Opcode::FFMA, rest, {source, rest});
      emitter_.emit(Opcode::FFMA, rest, {rest, CodeEmitter::shared_base()});
      emitter_.emit(Opcode::MUFU_EX2, rest, {rest});
      emitter_.emit(Opcode::SHF, power, {power});
      emitter_.emit(Opcode::FMUL, target, {power, rest});
      return;
    }
    case UnaryOp::log2:
      emitter_.emit(Opcode::MUFU_LG2, target, {source});
      return;
    case UnaryOp::tanh:  // MUFU.TANH, which traces do not tell from others of its rate
      emitter_.emit(Opcode::MUFU_EX2, target, {source});
      return;
    case UnaryOp::reciprocal:
      emitter_.emit(Opcode::MUFU_RCP, target, {source});
      return;
    case UnaryOp::zero_if_minus_infinity: {
      const Range infinite = emitter_.temporary_predicate();
      emitter_.emit(Opcode::FSETP, infinite, {source});
      emitter_.emit(Opcode::FSEL, target, {source, infinite});
      return;
    }
    case UnaryOp::reciprocal_or_one: {
      if (!launch_.build.math.fast_division) {
        emit_tested_reciprocal(target, source);
        return;
      }
      const Range empty = emitter_.temporary_predicate();
      const Range inverse = emitter_.temporary(1);
      emitter_.emit(Opcode::FSETP, empty, {source});
      emitter_.emit(Opcode::MUFU_RCP, inverse, {source});
      emitter_.emit(Opcode::FSEL, target, {inverse, empty});
      return;
    }
    case UnaryOp::log_or_infinity:
    case UnaryOp::log_or_minus_infinity: {
      if (!launch_.build.math.fast_division) {
        emit_tested_logarithm(target, source);
        return;
      }
      const Range empty = emitter_.temporary_predicate();
      const Range logarithm = emitter_.temporary(1);
      emitter_.emit(Opcode::FSETP, empty, {source});
      emitter_.emit(Opcode::MUFU_LG2, logarithm, {source});
      emitter_.emit(Opcode::FMUL, logarithm, {logarithm});
      emitter_.emit(Opcode::FSEL, target, {logarithm, empty});
      return;
    }
  }
}

void TraceMachine::emit_binary(BinaryOp op, Range target, Range left, Range right) {
  switch (op) {
    case BinaryOp::add:
    case BinaryOp::subtract:
      emitter_.emit(Opcode::FADD, target, {left, right});
      return;
    case BinaryOp::multiply:
      emitter_.emit(Opcode::FMUL, target, {left, right});
      return;
    case BinaryOp::max:
      emitter_.emit(Opcode::FMNMX, target, {left, right});
      return;
    case BinaryOp::masked_fill:
    case BinaryOp::masked_zero: {
      const Range hidden = emitter_.temporary_predicate();
      emitter_.emit(Opcode::ISETP, hidden, {right});
      emitter_.emit(Opcode::FSEL, target, {left, hidden});
      return;
    }
    case BinaryOp::divide: {
      const Range inverse = emitter_.temporary(1);
      const Range quotient = emitter_.temporary(1);
      emitter_.emit(Opcode::BSSY, {}, {});
      emitter_.emit(Opcode::MUFU_RCP, inverse, {right});
      const Range special = emitter_.temporary_predicate();
      emitter_.emit(Opcode::FCHK, special, {left, right});
      emitter_.emit(Opcode::FFMA, quotient, {inverse, right});
      emitter_.emit(Opcode::FFMA, inverse, {inverse, quotient});
      emitter_.emit(Opcode::FFMA, quotient, {left, inverse});
      emitter_.emit(Opcode::FFMA, inverse, {quotient, right, left});
      emitter_.emit(Opcode::FFMA, target, {inverse, quotient});
      // The branch past the subroutine waits for the check, and the compiler moves nothing across it.
      emitter_.emit(Opcode::BRA, {}, {special});
      emitter_.end_block(false);
      emitter_.emit(Opcode::BSYNC, {}, {});
      emitter_.end_block(false);
      return;
    }
  }
}

}  // namespace warpscope::kernels

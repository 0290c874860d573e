// Arithmetic of the trace machine.
#include <array>

#include "kernels/compiler/trace_machine.hpp"
#include "kernels/machine/check_plan.hpp"

namespace warpscope::kernels {
namespace {

const char* name(UnaryOp op) {
  switch (op) {
    case UnaryOp::copy:
      return "copy";
    case UnaryOp::exp2:
      return "exp2";
    case UnaryOp::log2:
      return "log2";
    case UnaryOp::reciprocal:
      return "reciprocal";
    case UnaryOp::zero_if_minus_infinity:
      return "zero_if_minus_infinity";
    case UnaryOp::exp:
      return "exp";
    case UnaryOp::reciprocal_or_one:
      return "reciprocal_or_one";
    case UnaryOp::log_or_infinity:
      return "log_or_infinity";
    case UnaryOp::log_or_minus_infinity:
      return "log_or_minus_infinity";
    case UnaryOp::tanh:
      return "tanh";
  }
  return "";
}

const char* name(BinaryOp op) {
  switch (op) {
    case BinaryOp::add:
      return "add";
    case BinaryOp::subtract:
      return "subtract";
    case BinaryOp::multiply:
      return "multiply";
    case BinaryOp::divide:
      return "divide";
    case BinaryOp::max:
      return "max";
    case BinaryOp::masked_fill:
      return "masked_fill";
    case BinaryOp::masked_zero:
      return "masked_zero";
  }
  return "";
}

}  // namespace

using trace::Opcode;

bool holds_pairs(const Fragment& fragment) {
  return element_bytes(fragment.type) == 2 && fragment.layout != Layout::row_per_warp &&
         fragment.layout != Layout::element_per_thread;
}

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

void TraceMachine::elementwise(const Fragment& target, std::initializer_list<const Fragment*> sources,
                               const std::function<void(Range, std::span<const Range>, int)>& element) {
  for (const Fragment* source : sources) {
    check_same_lanes(target, *source);
  }
  const bool packed = holds_pairs(target);
  const int values = packed ? 2 : 1;
  for (int i = 0; i < count(target); ++i) {
    std::array<std::array<Range, 2>, 2> operands{};
    std::size_t operand = 0;
    for (const Fragment* source : sources) {
      for (int k = 0; k < values; ++k) {
        Range& value = operands[static_cast<std::size_t>(k)][operand];
        if (source->type == ElementType::fp32) {
          value = reg(*source, i * values + k);
        } else {
          value = emitter_.temporary(1);
          emitter_.emit(Opcode::HADD2, value, {reg(*source, !packed && holds_pairs(*source) ? i / 2 : i)});
        }
      }
      ++operand;
    }
    std::array<Range, 2> results{};
    for (int k = 0; k < values; ++k) {
      const auto value = static_cast<std::size_t>(k);
      results[value] = packed ? emitter_.temporary(1) : reg(target, i);
      element(results[value], std::span(operands[value].data(), operand), row_slot(target, i));
    }
    if (packed) {
      emitter_.emit(Opcode::F2FP_PACK_AB, reg(target, i), {results[0], results[1]});
    } else if (target.type != ElementType::fp32) {
      emitter_.emit(Opcode::F2FP_PACK_AB, reg(target, i), {results[0]});
    }
  }
}

void TraceMachine::convert(const Fragment& target, const Fragment& source) {
  const Operation operation(*this, "convert");
  check_same_lanes(target, source);
  if (target.layout == Layout::accumulator && target.type != ElementType::fp32 &&
      source.type == ElementType::fp32) {
    // Two neighbouring 8-column atoms of C become one 16-column atom of operand A.
    const int m_atoms = at(target.id).m_atoms;
    for (int i = 0; i < count(target); ++i) {
      const int atom = i / 4;
      const int n_atom = 2 * (atom / m_atoms) + i % 4 / 2;
      const int first = (n_atom * m_atoms + atom % m_atoms) * 4 + 2 * (i % 2);
      emitter_.emit(Opcode::F2FP_PACK_AB, reg(target, i), {reg(source, first), reg(source, first + 1)});
    }
    return;
  }
  apply(target, UnaryOp::copy, source);
}

void TraceMachine::apply(const Fragment& target, UnaryOp op, const Fragment& source) {
  const Operation operation(*this, name(op));
  if (op == UnaryOp::copy) {
    check_same_lanes(target, source);
    convert_elements(target, source);
    return;
  }
  elementwise(target, {&source},
              [&](Range result, std::span<const Range> in, int) { emit_unary(op, result, in[0]); });
}

void TraceMachine::apply(const Fragment& target, BinaryOp op, const Fragment& left, const Fragment& right) {
  const Operation operation(*this, name(op));
  if (op == BinaryOp::masked_fill || op == BinaryOp::masked_zero) {
    fill_masked(target, left, right);
    return;
  }
  elementwise(target, {&left, &right},
              [&](Range result, std::span<const Range> in, int) { emit_binary(op, result, in[0], in[1]); });
}

void TraceMachine::apply(const Fragment& target, BinaryOp op, const Fragment& left, float) {
  const Operation operation(*this, name(op));
  elementwise(target, {&left}, [&](Range result, std::span<const Range> in, int) {
    emit_binary(op, result, in[0], CodeEmitter::constant());
  });
}

void TraceMachine::apply(const Fragment& target, BinaryOp op, const Fragment& left, const RowVector& right) {
  const Operation operation(*this, name(op));
  elementwise(target, {&left}, [&](Range result, std::span<const Range> in, int slot) {
    emit_binary(op, result, in[0], reg(right, slot));
  });
}

void TraceMachine::multiply_add(const Fragment& target, const Fragment& left, const RowVector& factor,
                                const Fragment& addend) {
  const Operation operation(*this, "multiply_add");
  elementwise(target, {&left, &addend}, [&](Range result, std::span<const Range> in, int slot) {
    if (launch_.build.math.fused_multiply_add) {
      emitter_.emit(Opcode::FFMA, result, {in[0], reg(factor, slot), in[1]});
    } else {
      const Range product = emitter_.temporary(1);
      emitter_.emit(Opcode::FMUL, product, {in[0], reg(factor, slot)});
      emitter_.emit(Opcode::FADD, result, {product, in[1]});
    }
  });
}

void TraceMachine::exp2_scaled(const Fragment& target, float, const RowVector& offset) {
  const Operation operation(*this, "exp2_scaled");
  // Row by row, as the source's loops run. The scale is a constant or a uniform register.
  for (int slot = 0; slot < at(target.id).row_slots; ++slot) {
    for (int i = 0; i < count(target); ++i) {
      if (row_slot(target, i) != slot) {
        continue;
      }
      const Range x = reg(target, i);
      if (launch_.build.math.fused_multiply_add) {
        emitter_.emit(Opcode::FFMA, x, {x, reg(offset, slot)});
      } else {
        emitter_.emit(Opcode::FMUL, x, {x});
        emitter_.emit(Opcode::FADD, x, {x, reg(offset, slot)});
      }
      emit_exp2(x, x);
      if (in_local_memory(target, i)) {
        emitter_.spill(x);
        emitter_.reload(x);
      }
    }
  }
}

bool TraceMachine::in_local_memory(const Fragment& exponentials, int i) const {
  constexpr int kSliceKeys = 16;
  const int slice = count(exponentials) * kSliceKeys / exponentials.cols;
  return i >= slice && i < slice + launch_.build.local.exponentials;
}

void TraceMachine::apply(const RowVector& target, UnaryOp op, const RowVector& source) {
  const Operation operation(*this, name(op));
  for (int i = 0; i < count(target); ++i) {
    emit_unary(op, reg(target, i), reg(source, i));
  }
}

void TraceMachine::apply(const RowVector& target, BinaryOp op, const RowVector& left,
                         const RowVector& right) {
  const Operation operation(*this, name(op));
  for (int i = 0; i < count(target); ++i) {
    emit_binary(op, reg(target, i), reg(left, i), reg(right, i));
  }
}

void TraceMachine::apply(const RowVector& target, BinaryOp op, const RowVector& left, float) {
  const Operation operation(*this, name(op));
  for (int i = 0; i < count(target); ++i) {
    emit_binary(op, reg(target, i), reg(left, i), CodeEmitter::constant());
  }
}

}  // namespace warpscope::kernels

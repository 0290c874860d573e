// Operations of the trace machine on all elements of fragments and rows.
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

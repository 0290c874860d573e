// Rows of the trace machine: what becomes one number for each of them.
#include <array>
#include <vector>

#include "kernels/compiler/trace_machine.hpp"
#include "kernels/machine/check_plan.hpp"

namespace warpscope::kernels {

using trace::Opcode;

void TraceMachine::reduce_rows(const RowVector& target, Reduce op, const Fragment& source, bool accumulate) {
  const Operation operation(*this, op == Reduce::max ? "reduce_rows max" : "reduce_rows sum");
  const Opcode opcode = op == Reduce::max ? Opcode::FMNMX : Opcode::FADD;
  const bool packed = holds_pairs(source);
  for (int slot = 0; slot < count(target); ++slot) {
    const Range value = reg(target, slot);
    Range first;  // the first element starts the reduction where nothing is accumulated
    bool started = accumulate;
    for (int i = 0; i < count(source); ++i) {
      if (row_slot(source, i) != slot) {
        continue;
      }
      for (int k = 0; k < (packed ? 2 : 1); ++k) {
        Range x = reg(source, i);
        if (packed) {
          x = emitter_.temporary(1);
          emitter_.emit(Opcode::HADD2, x, {reg(source, i)});
        }
        if (!started && first.count == 0) {
          first = x;
          continue;
        }
        emitter_.emit(opcode, value, {started ? value : first, x});
        started = true;
      }
    }
    if (!started && first.count > 0) {
      emitter_.emit(Opcode::IMAD_MOV, value, {first});
    }
  }
}

void TraceMachine::row_dot(const RowVector& target, const Fragment& left, const Fragment& right,
                           bool accumulate) {
  const Operation operation(*this, "row_dot");
  check_same_lanes(left, right);
  const int values = holds_pairs(left) ? 2 : 1;
  std::vector<bool> started(static_cast<std::size_t>(count(target)), accumulate);
  for (int i = 0; i < count(left); ++i) {
    const int slot = row_slot(left, i);
    const Range sum = reg(target, slot);
    for (int k = 0; k < values; ++k) {
      std::array<Range, 2> factors = {reg(left, i), reg(right, i)};
      for (Range& factor : factors) {
        if (left.type != ElementType::fp32) {
          const Range widened = emitter_.temporary(1);
          emitter_.emit(Opcode::HADD2, widened, {factor});
          factor = widened;
        }
      }
      if (started[static_cast<std::size_t>(slot)]) {
        emitter_.emit(Opcode::FFMA, sum, {factors[0], factors[1], sum});
      } else {
        emitter_.emit(Opcode::FMUL, sum, {factors[0], factors[1]});
        started[static_cast<std::size_t>(slot)] = true;
      }
    }
  }
}

void TraceMachine::rescaled_row_sum(const RowVector& target, const RowVector& scale, const Fragment& source) {
  const Operation operation(*this, "rescaled_row_sum");
  for (int slot = 0; slot < count(target); ++slot) {
    bool started = false;
    const Range sum = reg(target, slot);
    if (launch_.build.local.row_sums) {
      emitter_.reload(sum);
    }
    for (int i = 0; i < count(source); ++i) {
      if (row_slot(source, i) != slot) {
        continue;
      }
      if (started) {
        emitter_.emit(Opcode::FADD, sum, {sum, reg(source, i)});
      } else {
        emitter_.emit(Opcode::FFMA, sum, {sum, reg(scale, slot), reg(source, i)});
      }
      started = true;
    }
    if (launch_.build.local.row_sums) {
      emitter_.spill(sum);
    }
  }
}

void TraceMachine::finish_rows(const RowVector& target, Reduce op) {
  const Operation operation(*this, op == Reduce::max ? "finish_rows max" : "finish_rows sum");
  for (int i = 0; i < count(target); ++i) {
    reduce_over_lanes(reg(target, i), at(target.id).lanes, op);
  }
}

void TraceMachine::reduce_over_lanes(const Range& value, int lanes, Reduce op) {
  for (int reach = 1; reach < lanes; reach *= 2) {
    const Range other = emitter_.temporary(1);
    emitter_.emit(Opcode::SHFL_BFLY, other, {value});
    emitter_.emit(op == Reduce::max ? Opcode::FMNMX : Opcode::FADD, value, {value, other});
  }
}

}  // namespace warpscope::kernels

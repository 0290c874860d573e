// Shared memory of the trace machine: tiles and rows that warps hand to one another.
#include <algorithm>
#include <stdexcept>

#include "kernels/compiler/memory_shapes.hpp"
#include "kernels/compiler/trace_machine.hpp"
#include "kernels/machine/check_plan.hpp"

namespace warpscope::kernels {

using trace::Opcode;

void TraceMachine::store_shared(const SharedTile& target, const Fragment& source) {
  const Operation operation(*this, "store_shared");
  check_shared(launch_, target);
  if (!target.swizzled) {
    store_elements(target, source);
    return;
  }
  const Pieces cut = pieces(source);
  const Opcode opcode = by_width(cut.width, Opcode::STS_32, Opcode::STS_64, Opcode::STS_128);
  for (int i = 0; i < cut.count; ++i) {
    emitter_.emit_memory(opcode, {},
                         {reg(source, i * cut.registers, cut.registers), CodeEmitter::shared_base()},
                         shared_operand(32 * cut.width, divide_up(cut.width, 4)));
  }
}

void TraceMachine::load_shared(const Fragment& target, const SharedTile& source, bool transposed) {
  const Operation operation(*this, "load_shared");
  check_shared(launch_, source);
  if (target.layout == Layout::operand_b) {
    for (int i = 0; i < count(target); i += 4) {
      emitter_.emit_memory(transposed ? Opcode::LDSM_T_X4 : Opcode::LDSM_X4, reg(target, i, 4),
                           {CodeEmitter::shared_base()}, shared_operand(512, 4));
    }
    return;
  }
  if (!source.swizzled) {
    load_elements(target, source);
    return;
  }
  const Pieces cut = pieces(target);
  const Opcode opcode = by_width(cut.width, Opcode::LDS_32, Opcode::LDS_64, Opcode::LDS_128);
  for (int i = 0; i < cut.count; ++i) {
    emitter_.emit_memory(opcode, reg(target, i * cut.registers, cut.registers), {CodeEmitter::shared_base()},
                         shared_operand(32 * cut.width, divide_up(cut.width, 4)));
  }
}

void TraceMachine::store_parts(const SharedTile& target, const Fragment& source) {
  const Operation operation(*this, "store_parts");
  store_shared(target, source);
}

void TraceMachine::store_parts(const SharedTile& target, const RowVector& source) {
  const Operation operation(*this, "store_parts");
  store_shared(target, source);
}

void TraceMachine::store_shared(const SharedTile& target, const RowVector& source) {
  const Operation operation(*this, "store_shared");
  check_shared(launch_, target);
  for (int i = 0; i < count(source); ++i) {
    emitter_.emit_memory(Opcode::STS_32, {}, {reg(source, i), CodeEmitter::shared_base()},
                         shared_operand(32, 1));
  }
}

void TraceMachine::load_shared(const RowVector& target, const SharedTile& source) {
  const Operation operation(*this, "load_shared");
  check_shared(launch_, source);
  for (int i = 0; i < count(target); ++i) {
    emitter_.emit_memory(Opcode::LDS_32, reg(target, i), {CodeEmitter::shared_base()},
                         shared_operand(128, 1));
  }
}

// The sign decides whether the integers that hold the values grow or fall with them: a branch, and an atomic
// maximum on one side of it. The other side, an atomic minimum for negative values, is left out.
void TraceMachine::max_shared(const SharedTile& target, const Fragment& source) {
  const Operation operation(*this, "max_shared");
  check_shared(launch_, target);
  const int lanes = std::min(32, threads_per_row(source.layout, source.cols, source.type));
  for (int slot = 0; slot < at(source.id).row_slots; ++slot) {
    const Range value = emitter_.allocate(1);                              // outlives the block
    emitter_.emit(Opcode::IMAD_MOV, value, {CodeEmitter::shared_base()});  // -inf
    for (int i = 0; i < count(source); ++i) {
      if (row_slot(source, i) == slot) {
        emitter_.emit(Opcode::FMNMX, value, {value, reg(source, i)});
      }
    }
    const Range negative = emitter_.temporary_predicate();
    emitter_.emit(Opcode::BSSY, {}, {});
    emitter_.emit(Opcode::ISETP, negative, {value});
    end_block(BlockEnd::branch);
    // Lanes that share a row take turns at its word.
    emitter_.emit_memory(Opcode::ATOMS_MAX, {}, {value, CodeEmitter::shared_base()},
                         shared_operand(4 * 32, lanes));
    emitter_.emit(Opcode::BSYNC, {}, {});
    end_block(BlockEnd::join);
  }
}

void TraceMachine::load_reduced(const Fragment& target, const SharedTile& source, int parts, Reduce op) {
  const Operation operation(*this, "load_reduced");
  check_shared(launch_, source);
  if (target.type != ElementType::fp32) {
    throw std::logic_error("partial tiles are fp32");
  }
  const Pieces cut = pieces(target);
  const Opcode load = by_width(cut.width, Opcode::LDS_32, Opcode::LDS_64, Opcode::LDS_128);
  for (int i = 0; i < cut.count; ++i) {
    const Range sum = reg(target, i * cut.registers, cut.registers);
    for (int part = 0; part < parts; ++part) {
      const Range loaded = part == 0 ? sum : emitter_.temporary(cut.registers);
      emitter_.emit_memory(load, loaded, {CodeEmitter::shared_base()},
                           shared_operand(32 * cut.width, divide_up(cut.width, 4)));
      for (int k = 0; part > 0 && k < cut.registers; ++k) {
        const Range element{static_cast<std::uint16_t>(sum.first + k), 1};
        const Range other{static_cast<std::uint16_t>(loaded.first + k), 1};
        emitter_.emit(op == Reduce::max ? Opcode::FMNMX : Opcode::FADD, element, {element, other});
      }
    }
  }
}

void TraceMachine::load_reduced(const RowVector& target, const SharedTile& source, int parts, Reduce op) {
  const Operation operation(*this, "load_reduced");
  check_shared(launch_, source);
  // Each lane of a row loads one part; the lanes then reduce by shuffles.
  for (int i = 0; i < count(target); ++i) {
    const Range value = reg(target, i);
    emitter_.emit_memory(Opcode::LDS_32, value, {CodeEmitter::shared_base()}, shared_operand(4 * 32, 1));
    reduce_over_lanes(value, parts, op);
  }
}

// Here all warps run one program, so the first warp's loads are dealt out over all of them. What is kept is
// their number, and the time that they hold the data path: the runs start 32 words apart, in one bank, so
// that a load of w runs takes w passes.
void TraceMachine::reduce_over_threads(const RowVector& target, const SharedTile& scratch, Reduce op) {
  const Operation operation(*this, "reduce_over_threads");
  check_shared(launch_, scratch);
  constexpr int kRun = 32;
  const int warps = launch_.warps;
  const auto load_and_reduce = [&](const Range& value, int bytes, int wavefronts) {
    const Range part = emitter_.temporary(1);
    emitter_.emit_memory(Opcode::LDS_32, part, {CodeEmitter::shared_base()},
                         shared_operand(bytes, wavefronts));
    emitter_.emit(op == Reduce::max ? Opcode::FMNMX : Opcode::FADD, value, {value, part});
  };
  for (int i = 0; i < count(target); ++i) {
    const Range value = reg(target, i);
    barrier();  // the scratch of the reduction before may still be read
    emitter_.emit_memory(Opcode::STS_32, {}, {value, CodeEmitter::shared_base()},
                         shared_operand(4 * kRun, 1));
    barrier();
    for (int k = 0; k < divide_up(kRun, warps); ++k) {
      load_and_reduce(value, 4 * warps, warps);
    }
    barrier();
    load_and_reduce(value, 4, 1);  // the first lane's loads of one result per warp
    barrier();
    emitter_.emit_memory(Opcode::LDS_32, value, {CodeEmitter::shared_base()}, shared_operand(4 * kRun, 1));
  }
}

}  // namespace warpscope::kernels

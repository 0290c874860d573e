// Scores of the trace machine that are hidden, and distances that are added to them.
#include <stdexcept>
#include <vector>

#include "kernels/compiler/trace_machine.hpp"

namespace warpscope::kernels {

using trace::Opcode;

void TraceMachine::mask(const Fragment& scores, const Mask& mask) {
  const Operation operation(*this, "mask");
  if (mask.window) {
    mask_window(scores);
    return;
  }
  // Column of this thread's first element and last visible column of each row, then a compare and a select
  // each.
  std::vector<Range> limits;
  for (int slot = 0; slot < at(scores.id).row_slots; ++slot) {
    limits.push_back(emitter_.temporary(1));
    emitter_.emit(Opcode::IADD3, limits.back(), {CodeEmitter::shared_base()});
  }
  // Of zeros that no instruction has written yet, the select makes the scores.
  const bool zeros = zero_accumulators_.erase(scores.id) > 0;
  for (int i = 0; i < count(scores); ++i) {
    const Range hidden = emitter_.temporary_predicate();
    emitter_.emit(Opcode::ISETP, hidden, {limits[static_cast<std::size_t>(row_slot(scores, i))]});
    const Range score = zeros ? CodeEmitter::shared_base() : reg(scores, i);
    emitter_.emit(Opcode::FSEL, reg(scores, i), {score, hidden});
  }
}

// Row by row: the first and the last visible column, and a second compare that takes the first one's result.
void TraceMachine::mask_window(const Fragment& scores) {
  for (int slot = 0; slot < at(scores.id).row_slots; ++slot) {
    const Range limit = emitter_.temporary(1);
    emitter_.emit(Opcode::IADD3, limit, {CodeEmitter::shared_base()});
    emitter_.emit(Opcode::IADD3, limit, {limit});
    for (int i = 0; i < count(scores); ++i) {
      if (row_slot(scores, i) != slot) {
        continue;
      }
      const Range hidden = emitter_.temporary_predicate();
      emitter_.emit(Opcode::ISETP, hidden, {limit});
      emitter_.emit(Opcode::ISETP, hidden, {limit, hidden});
      emitter_.emit(Opcode::FSEL, reg(scores, i), {reg(scores, i), hidden});
    }
  }
}

// Columns are converted once for all rows of a thread. Distances are shared by the rows of an atom, which lie
// 8 apart as columns do: an atom has one distance more than it has columns, for each of a pair.
void TraceMachine::add_bias(const Fragment& scores, const DistanceBias& bias) {
  const Operation operation(*this, "add_bias");
  if (scores.layout != Layout::accumulator) {
    throw std::logic_error("add_bias takes the layout of an accumulator");
  }
  const Registers& registers = at(scores.id);
  const int columns = registers.count / registers.row_slots;
  const int distances = bias.columns_only ? columns : registers.m_atoms * (columns + 2);
  const Range term = emitter_.temporary(1);  // one for all: registers are short here
  for (int i = 0, converted = 0; i < count(scores); ++i) {
    for (; converted * count(scores) <= i * distances && converted < distances; ++converted) {
      emitter_.emit(Opcode::IADD3, term, {CodeEmitter::shared_base()});
      if (!bias.columns_only) {
        emitter_.emit(Opcode::IMNMX, term, {term});  // IABS
      }
      emitter_.emit(Opcode::I2FP, term, {term});
    }
    emitter_.emit(Opcode::FFMA, reg(scores, i), {term, CodeEmitter::shared_base(), reg(scores, i)});
  }
}

}  // namespace warpscope::kernels

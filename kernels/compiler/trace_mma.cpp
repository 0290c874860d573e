// Matrix products of the trace machine.
#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/compiler/trace_machine.hpp"
#include "kernels/machine/check_plan.hpp"

namespace warpscope::kernels {

using trace::Opcode;

namespace {

Opcode tensor_opcode(ElementType type, int depth) {
  const bool bf16 = type == ElementType::bf16;
  switch (depth) {
    case 16:
      return bf16 ? Opcode::HMMA_16816_F32_BF16 : Opcode::HMMA_16816_F32;
    case 8:
      return bf16 ? Opcode::HMMA_1688_F32_BF16 : Opcode::HMMA_1688_F32;
    default:
      throw std::logic_error("tensor instructions m16n8k" + std::to_string(depth) +
                             " do not exist here; legal are 8 and 16");
  }
}

}  // namespace

/// A or B of one product: where the registers of each atom are, step by step along k.
struct TraceMachine::Operand {
  const MmaOperand* operand = nullptr;
  bool is_a = false;
  int atoms = 0;                             ///< 16-row atoms of A, 8-column atoms of B per warp
  int registers_per_atom = 0;                ///< of one k step
  std::vector<Range> current;                ///< registers of the k step that HMMAs read
  std::vector<Range> next;                   ///< registers of the step loaded ahead
  std::array<std::vector<Range>, 2> sets{};  ///< for loads that take turns, MathBuild::hmma_scoreboard
};

void TraceMachine::load_step(Operand& operand, int step) {
  operand.next.clear();
  const int per_atom = operand.registers_per_atom;
  if (const auto* fragment = std::get_if<Fragment>(&operand.operand->tile)) {
    const int registers = count(*fragment);
    for (int atom = 0; atom < operand.atoms; ++atom) {
      const int index = (step * operand.atoms + atom) * per_atom;
      operand.next.push_back(reg(*fragment, index % registers, per_atom));
    }
    return;
  }
  // LDSM.x4 fetches four registers: with k = 16 an atom of A, or two of B, with k = 8 twice as many. B stored
  // n x k (transposed) needs no transpose.
  constexpr int kRegistersPerLoad = 4;
  const bool transpose = operand.operand->transposed == operand.is_a;
  const int step_atoms = kRegistersPerLoad / per_atom;
  for (int atom = 0; atom < operand.atoms; atom += step_atoms) {
    const int left = std::min(step_atoms, operand.atoms - atom);
    const bool whole = left == step_atoms;
    const Range loaded = load_target(operand, step, atom / step_atoms, left * per_atom);
    const Opcode opcode = transpose ? (whole ? Opcode::LDSM_T_X4 : Opcode::LDSM_T_X2)
                                    : (whole ? Opcode::LDSM_X4 : Opcode::LDSM_X2);
    trace::MemoryOperand memory;
    memory.bytes = whole ? 512 : 256;
    memory.wavefronts = whole ? 4 : 2;
    emitter_.emit_memory(opcode, loaded, {CodeEmitter::shared_base()}, memory);
    for (int k = 0; k < left; ++k) {
      operand.next.push_back(
          {static_cast<std::uint16_t>(loaded.first + k * per_atom), static_cast<std::uint8_t>(per_atom)});
    }
  }
}

TraceMachine::Range TraceMachine::load_target(Operand& operand, int step, int number, int registers) {
  if (!launch_.build.math.hmma_scoreboard) {
    return emitter_.temporary(registers);
  }
  std::vector<Range>& set = operand.sets[static_cast<std::size_t>(step % 2)];
  if (static_cast<std::size_t>(number) == set.size()) {
    set.push_back(emitter_.temporary(registers));
  }
  return set[static_cast<std::size_t>(number)];
}

void TraceMachine::mma(const Fragment& accumulator, const MmaOperand& a, const MmaOperand& b) {
  const auto place = [](const MmaOperand& operand) {
    return std::holds_alternative<Fragment>(operand.tile) ? "registers" : "shared";
  };
  const Operation operation(*this, std::string("mma ") + place(a) + " x " + place(b));
  for (const MmaOperand* operand : {&a, &b}) {
    if (const auto* shared = std::get_if<SharedTile>(&operand->tile)) {
      check_shared(launch_, *shared);
    }
  }
  const WarpSplit split = accumulator.split;
  const auto inner = [](const MmaOperand& operand, bool is_a) {
    return std::visit([&](const auto& tile) { return operand.transposed == is_a ? tile.rows : tile.cols; },
                      operand.tile);
  };
  const int depth = inner(a, true);
  if (depth != inner(b, false)) {
    throw std::logic_error("operands of a product disagree about its inner dimension");
  }
  const ElementType type = std::visit([](const auto& tile) { return tile.type; }, a.tile);
  const int step_depth = launch_.build.math.mma_depth;
  const Opcode opcode = tensor_opcode(type, step_depth);
  const int steps = depth / (step_depth * split.k);
  const int m_atoms = accumulator.rows / (16 * split.m);
  const int n_atoms = accumulator.cols / (8 * split.n);
  Operand left{&a, true, m_atoms, step_depth / 4, {}, {}, {}};
  Operand right{&b, false, n_atoms, step_depth / 8, {}, {}, {}};

  const bool from_zero = zero_accumulators_.erase(accumulator.id) > 0;
  load_step(left, 0);
  load_step(right, 0);
  for (int step = 0; step < steps; ++step) {
    left.current.swap(left.next);
    right.current.swap(right.next);
    if (step + 1 < steps) {
      load_step(left, step + 1);
      load_step(right, step + 1);
    }
    for (int n = 0; n < n_atoms; ++n) {
      for (int i = 0; i < m_atoms; ++i) {
        // There and back, as CUTLASS does: every other product finds A at hand.
        const int m = n % 2 == 0 ? i : m_atoms - 1 - i;
        const Range sum = reg(accumulator, (n * m_atoms + m) * 4, 4);
        emitter_.emit(opcode, sum,
                      {left.current[static_cast<std::size_t>(m)], right.current[static_cast<std::size_t>(n)],
                       step == 0 && from_zero ? Range{} : sum});
      }
    }
  }
}

}  // namespace warpscope::kernels

// Dropout of the trace machine: random numbers by Philox, and weights cut by them.
#include <array>
#include <cstddef>
#include <stdexcept>

#include "kernels/compiler/trace_machine.hpp"

namespace warpscope::kernels {

using trace::Opcode;

// One of the five rounds of Philox that nothing can be taken out of: two wide products, and two exclusive ors
// of three operands.
void TraceMachine::philox_round(std::array<Range, 4>& counter) {
  const Range first = emitter_.temporary(2);
  const Range second = emitter_.temporary(2);
  emitter_.emit(Opcode::IMAD_WIDE, first, {counter[0], CodeEmitter::shared_base()});
  emitter_.emit(Opcode::IMAD_WIDE, second, {counter[2], CodeEmitter::shared_base()});
  const Range x = emitter_.temporary(1);
  const Range z = emitter_.temporary(1);
  emitter_.emit(Opcode::LOP3, x, {second, counter[1]});
  emitter_.emit(Opcode::LOP3, z, {first, counter[3]});
  counter = {x, second, z, first};
}

// 16 random bytes become eight pairs of 16-bit numbers, which are compared with the threshold and cut
// weights.
void TraceMachine::cut_weights(const Fragment& weights, int first, const std::array<Range, 4>& numbers) {
  constexpr int kAtom = 4;  // registers of 16 x 16 weights
  const int next_atom = kAtom * at(weights.id).m_atoms;
  for (int pair = 0; pair < 2 * kAtom; ++pair) {
    const Range number = numbers[static_cast<std::size_t>(pair / 2)];
    const Range low = emitter_.temporary(1);
    const Range high = emitter_.temporary(1);
    const bool upper = pair % 2 == 1;  // whose last byte needs no mask, and the first of the lower no shift
    emitter_.emit(Opcode::SHF, high, {number});
    if (upper) {
      emitter_.emit(Opcode::SHF, low, {number});
    }
    emitter_.emit(Opcode::LOP3, low, {upper ? low : number});
    if (!upper) {
      emitter_.emit(Opcode::LOP3, high, {high});
    }
    emitter_.emit(Opcode::PRMT, low, {low, high});
    emitter_.emit(Opcode::FSEL, low,
                  {low, CodeEmitter::shared_base()});  // HSET2, on the ALU pipe as counters say
    const Range target = reg(weights, first + pair / kAtom * next_atom + pair % kAtom);
    emitter_.emit(Opcode::LOP3, target, {target, low});
  }
}

// One call of Philox for every 16 x 32 weights of a warp. What depends on the head, the lane and the row
// alone, of the first two of seven rounds, compilers compute before the loop; what depends on the column
// alone once for all rows. The machine code of FlashAttention-2 for sm_80, 32 x 64 weights, has 41 IMAD.WIDE,
// 128 LOP3, 49 SHF, 32 PRMT and 32 HSET2 in an iteration; this has 42, 126, 48, 32 and 32.
void TraceMachine::drop(const Fragment& weights, const Dropout& /*dropout*/) {
  const Operation operation(*this, "drop");
  if (weights.layout != Layout::accumulator || element_bytes(weights.type) != 2) {
    throw std::logic_error("drop takes 16-bit weights in the layout of an accumulator");
  }
  constexpr int kOtherRounds = 5;
  constexpr int kPerCall = 8;  // registers
  const int m_atoms = at(weights.id).m_atoms;
  const Range known = CodeEmitter::shared_base();
  for (int n = 0; n < count(weights) / (kPerCall * m_atoms); ++n) {
    const Range column = emitter_.temporary(1);
    emitter_.emit(Opcode::LOP3, column, {known});
    const Range product = emitter_.temporary(2);
    emitter_.emit(Opcode::IMAD_WIDE, product, {column, known});
    for (int m = 0; m < m_atoms; ++m) {
      std::array<Range, 4> counter = {emitter_.temporary(1), product, known, known};
      emitter_.emit(Opcode::LOP3, counter[0], {product, known});
      for (int round = 0; round < kOtherRounds; ++round) {
        philox_round(counter);
      }
      cut_weights(weights, 4 * (2 * n * m_atoms + m), counter);
    }
  }
}

}  // namespace warpscope::kernels

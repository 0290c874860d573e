// Valid traces that use every feature of the trace in odd combinations, the same ones on every run.
#pragma once

#include <cstdint>
#include <random>

#include "model/trace/launch.hpp"

namespace warpscope::trace {

/// Integers from a seeded generator; the standard distributions differ between libraries, this does not.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  /// Within [least, most].
  std::int64_t between(std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(most - least + 1));
  }
  bool one_in(std::int64_t n) { return between(1, n) == 1; }

 private:
  std::mt19937_64 engine_;
};

/// An instruction without operands.
inline Instruction bare(Opcode opcode) {
  Instruction instruction;
  instruction.opcode = opcode;
  return instruction;
}

/// A valid trace of up to three small launches.
Trace random_trace(std::uint64_t seed);

}  // namespace warpscope::trace

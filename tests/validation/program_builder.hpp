// Writes warp programs instruction by instruction, for microbenchmarks.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>

#include "model/trace/launch.hpp"

namespace warpscope::validation {

/// One register range; the names keep the programs below readable.
inline trace::RegisterRange reg(int first, int count = 1) {
  return {static_cast<std::uint16_t>(first), static_cast<std::uint8_t>(count)};
}
inline trace::RegisterRange predicate(int number) {
  return reg(trace::kFirstPredicate + number);
}

/// Appends to a program; loops open and close in order.
class ProgramBuilder {
 public:
  explicit ProgramBuilder(std::string name) { program_.name = std::move(name); }

  void add(trace::Opcode opcode, trace::RegisterRange destination = {},
           std::initializer_list<trace::RegisterRange> sources = {});
  /// BAR.SYNC and DEPBAR.LE.
  void add_immediate(trace::Opcode opcode, int immediate);
  /// A shared-memory access of `bytes`, without bank conflicts.
  void add_shared(trace::Opcode opcode, trace::RegisterRange destination,
                  std::initializer_list<trace::RegisterRange> sources, std::uint32_t bytes);
  /// An access of a tensor at `offset`.
  void add_global(trace::Opcode opcode, trace::RegisterRange destination,
                  std::initializer_list<trace::RegisterRange> sources, std::uint32_t bytes,
                  const trace::AffineIndex& offset, std::uint16_t tensor = 0);
  void begin_loop(int trip_slot);
  /// Closes the innermost loop the way compilers do: they count and compare early, so that only the branch
  /// stands at the end.
  void end_loop();
  /// Appends EXIT.
  trace::WarpProgram finish();

 private:
  void count_trips(std::size_t loop);
  trace::Instruction& append(trace::Opcode opcode, trace::RegisterRange destination,
                             std::initializer_list<trace::RegisterRange> sources);

  trace::WarpProgram program_;
  std::vector<std::size_t> open_;
};

/// A launch of `ctas` equal CTAs in which `warps` warps run `program` with the trip counts of their class.
trace::Launch make_launch(std::string name, std::uint32_t ctas, std::uint32_t warps,
                          const trace::WarpProgram& program, std::uint32_t trips);

}  // namespace warpscope::validation

// What later instructions may still have to wait for, at one point of a program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/trace/instruction.hpp"

namespace warpscope::kernels {

/// By register; results of fixed latency are never open where a block ends. Vectors of plain numbers, so that
/// what is done to all registers is done to many at a time.
struct OpenDependences {
  static constexpr std::size_t kRegisters = trace::kFirstPredicate + 64;
  using Boards = std::vector<std::uint8_t>;  ///< masks of scoreboards

  Boards write_boards = Boards(kRegisters);  ///< scoreboards that say when the register has been written
  Boards read_boards = Boards(kRegisters);   ///< scoreboards that say when it has been read

  /// Adds what is open in `other`, from which the point can be reached too. True if that was news.
  bool join(const OpenDependences& other);
  /// An instruction has waited for the scoreboards of `mask`.
  void waited(std::uint8_t mask);
};

}  // namespace warpscope::kernels

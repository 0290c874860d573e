// A warp program before scheduling: basic blocks of instructions on unlimited registers, and loops over them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "model/trace/program.hpp"

namespace warpscope::kernels {

/// Registers below this one hold addresses and constants; the register limit for values does not count them.
inline constexpr std::uint16_t kFirstValueRegister = 26;

/// Straight code without branches inside. Registers below the first temporary outlive the block where later
/// code reads them.
struct BasicBlock {
  std::vector<trace::Instruction> code;
  bool ends_with_branch = false;      ///< a branch follows the code; it is not part of `code`
  std::uint8_t branch_operation = 0;  ///< what the branch is part of
  int jumps_over = 0;                 ///< instructions; 0: the branch is not taken, or closes a loop
  int memory_interval = 0;            ///< 0: CompilerTarget::memory_interval
  /// Predicate that the branch reads, made in this block; none: it was made long before.
  trace::RegisterRange condition = {};
};

/// Blocks [first_block, last_block] repeat; the loop's branch ends the last of them.
struct VirtualLoop {
  std::size_t first_block = 0;
  std::size_t last_block = 0;
  std::uint16_t trip_slot = 0;
  std::array<std::int32_t, trace::kMaxLoopDepth> trips_per_iteration{};
  bool again = false;         ///< as in trace::Loop
  bool at_most_once = false;  ///< a condition, not a loop: its branch never jumps back
};

struct VirtualProgram {
  std::vector<BasicBlock> blocks;
  std::vector<VirtualLoop> loops;  ///< sorted by first block, outer before inner
  std::vector<trace::MemoryOperand> memory_operands;
  std::vector<std::string> operations;  ///< as in WarpProgram, in any order

  /// The number of an operation, as instructions hold it. Of more names than fit in it the later ones are
  /// none.
  std::uint8_t operation_number(std::string name) {
    const auto place = std::ranges::find(operations, name);
    const auto number = static_cast<std::size_t>(place - operations.begin()) + 1;
    if (name.empty() || number > std::numeric_limits<std::uint8_t>::max()) {
      return 0;
    }
    if (place == operations.end()) {
      operations.push_back(std::move(name));
    }
    return static_cast<std::uint8_t>(number);
  }
};

}  // namespace warpscope::kernels

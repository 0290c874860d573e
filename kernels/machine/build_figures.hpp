// What one build of a kernel has that the kernel's text does not show: counted in its machine code, or by
// hardware counters.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "model/trace/opcode.hpp"

namespace warpscope::kernels {

/// How the build of a kernel computes exponentials and products.
struct MathBuild {
  bool fused_multiply_add = true;  ///< false: x * scale - offset is FMUL then FADD (PyTorch's UNFUSE_FMA)
  bool fast_exp2 = true;           ///< false: exp2f with range test: FSETP, FMUL, MUFU, FMUL
  bool fast_division = true;       ///< false: 1 / x and ln x test their range, in branches around subroutines
  int mma_depth = 16;              ///< k of the tensor instruction m16n8k: 8 or 16
  /// ptxas of CUDA 11: what waits for results or sources of HMMA, but another HMMA, waits for a scoreboard
  /// that all of them share, and fragments take turns in two sets of registers.
  bool hmma_scoreboard = false;
};

/// Per warp.
struct CountedInstruction {
  trace::Opcode opcode;
  int count;
  int new_lines = 0;  ///< LDC, ULDC: so many of them read lines of parameters that none before has read
};

enum class BlockEnd : std::uint8_t {
  none,
  branch,  ///< the compiler moves nothing across it
  join,    ///< where the paths of a branch meet again: without an instruction
};

/// Addresses, moves, spills in one basic block, and whether it ends behind them.
struct CountedBlock {
  std::vector<CountedInstruction> spread{};  ///< evenly over the basic block
  /// Each instruction needs the result of the one before, as index arithmetic does: at the mark and in this
  /// order, the kinds interleaved. Without a result, like a NOP, an instruction breaks no chain. The
  /// addresses behind it depend on the last of them.
  std::vector<CountedInstruction> chain{};
  BlockEnd end = BlockEnd::none;
  int jumps_over = 0;  ///< instructions that nobody executes here; 0: the branch is not taken
};

/// What the compiler applies where a program marks a part, see CtaMachine::part.
using CountedPart = std::vector<CountedBlock>;

/// Values of a softmax step that somebody waits for while they are in local memory. Their loads and stores
/// are among those that were counted.
struct LocalValues {
  bool row_sums = false;  ///< from the end of a step to the sums of the next
  int exponentials = 0;   ///< of a thread, from the second slice of keys on, until they are packed
};

struct BuildFigures {
  MathBuild math{};
  bool estimate_moves = true;  ///< false: the counted instructions contain the register moves
  /// false: the counted instructions contain the address code of asynchronous copies.
  bool estimate_copy_addresses = true;
  /// Asynchronous copies check columns: each has a store of zeros in front, for those that do not exist.
  bool checks_columns = false;
  /// false: the counted instructions contain the address code of loads and stores of tiles and rows in global
  /// memory, each of which has a pointer of its own.
  bool estimate_tile_addresses = true;
  /// false: registers of an instruction's operands are of one bank as often as not, which takes a cycle more.
  bool spread_over_banks = true;
  /// 64-bit addresses that reductions use in turns: each waits until the one so many before has been sent.
  int reduction_addresses = 11;
  /// 4-byte words of local memory for values that have no register meanwhile; the counted instructions
  /// contain their loads and stores.
  int spilled_words = 0;

  /// Words of local memory that a thread is given.
  int frame_words() const { return spilled_words > 0 ? spilled_words : 64; }
  LocalValues local{};
  /// By part and copy; nothing was counted for those that are missing.
  std::map<std::pair<int, int>, CountedPart> parts{};
  std::set<int> exchanged{};  ///< see CtaMachine::in_either_order
};

}  // namespace warpscope::kernels

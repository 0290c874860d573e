#include "kernels/machine/control_bits.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "kernels/machine/liveness.hpp"
#include "kernels/machine/opcode_kinds.hpp"

namespace warpscope::kernels {
namespace {

using trace::Instruction;
using trace::OpClass;
using trace::RegisterRange;

constexpr int kReadKind =
    32;  // kinds of scoreboard use: the class of a writer, or this plus that of a reader
constexpr int kLateRead = 63;  // a register that is read here and written again in another block
// Loads from global memory that no instruction of their block reads hold the last scoreboard together, in
// every block, and nothing else uses it: so do all such loads in FlashAttention-1's machine code, for sm_80
// and sm_90.
constexpr int kLateLoadScoreboard = trace::kScoreboards - 1;
constexpr int kLongestStall = 15;
constexpr std::size_t kRegisters = trace::kFirstPredicate + 64;

// What later instructions may still have to wait for, at one point of the program; by register. Vectors of
// plain numbers, so that what is done to all registers is done to many at a time.
struct State {
  using Times = std::vector<int>;
  using Boards = std::vector<std::uint8_t>;

  Times ready_in = Times(kRegisters);        // cycles until a result of fixed latency may be read
  Boards write_boards = Boards(kRegisters);  // scoreboards that say when the register has been written
  Boards read_boards = Boards(kRegisters);   // scoreboards that say when it has been read
};

// Spans, as bytes may alias a vector's own pointers, which would be loaded again for each of them.
template <typename T, typename Join>
bool join_each(std::span<T> into, std::span<const T> from, const Join& join) {
  T changes = 0;
  for (std::size_t r = 0; r < into.size(); ++r) {
    const T joined = join(into[r], from[r]);
    changes = static_cast<T>(changes | (joined ^ into[r]));
    into[r] = joined;
  }
  return changes != 0;
}

bool join(State& into, const State& from) {
  const auto later = [](int a, int b) { return std::max(a, b); };
  const auto both = [](std::uint8_t a, std::uint8_t b) { return static_cast<std::uint8_t>(a | b); };
  const bool times = join_each<int>(into.ready_in, from.ready_in, later);
  const bool writes = join_each<std::uint8_t>(into.write_boards, from.write_boards, both);
  const bool reads = join_each<std::uint8_t>(into.read_boards, from.read_boards, both);
  return times || writes || reads;
}

template <typename Visit>
void each(const RegisterRange& range, const Visit& visit) {
  for (std::size_t k = 0; k < range.count; ++k) {
    visit(range.first + k);
  }
}

bool overlaps(const RegisterRange& left, const RegisterRange& right) {
  return left.first < right.first + right.count && right.first < left.first + left.count;
}

bool reads(const Instruction& instruction, const RegisterRange& range) {
  return std::ranges::any_of(instruction.sources,
                             [&](const RegisterRange& source) { return overlaps(source, range); });
}

bool is_late_load(const std::vector<Instruction>& block, std::size_t i) {
  return trace::info(block[i].opcode).op_class == OpClass::global_load &&
         std::none_of(block.begin() + static_cast<std::ptrdiff_t>(i) + 1, block.end(),
                      [&](const Instruction& later) { return reads(later, block[i].destination); });
}

bool has_async_copy(const VirtualProgram& program) {
  return std::ranges::any_of(program.blocks, [](const BasicBlock& block) {
    return std::ranges::any_of(block.code, [](const Instruction& instruction) {
      return trace::info(instruction.opcode).op_class == OpClass::async_copy;
    });
  });
}

bool has_late_load(const VirtualProgram& program) {
  return std::ranges::any_of(program.blocks, [](const BasicBlock& block) {
    for (std::size_t i = 0; i < block.code.size(); ++i) {
      if (is_late_load(block.code, i)) {
        return true;
      }
    }
    return false;
  });
}

// The scoreboards of one block and what they stand for.
class Scoreboards {
 public:
  /// `begin` to `end` (exclusive) may be given out.
  Scoreboards(int begin, int end) : begin_(begin), end_(end) {}

  int assign(int kind) {
    // Reads that nothing in this block waits for hold one scoreboard together.
    if (kind == kLateRead && last_[kLateRead] >= 0) {
      return set(last_[kLateRead], kind);
    }
    for (int b = begin_; b < end_; ++b) {
      if (boards_[static_cast<std::size_t>(b)].setters == 0) {
        return set(b, kind);
      }
    }
    // All taken: the latest of the same kind makes earlier waiters wait least; failing that, the latest of
    // all.
    int best = begin_;
    for (int b = begin_; b < end_; ++b) {
      const Board& board = boards_[static_cast<std::size_t>(b)];
      const Board& leader = boards_[static_cast<std::size_t>(best)];
      const bool same = board.kind == kind;
      const bool leader_same = leader.kind == kind;
      if (same > leader_same || (same == leader_same && board.when > leader.when)) {
        best = b;
      }
    }
    return set(best, kind);
  }

  void waited(std::uint8_t mask) {
    for (int b = 0; b < trace::kScoreboards; ++b) {
      if ((mask >> b & 1) != 0) {
        boards_[static_cast<std::size_t>(b)].setters = 0;
      }
    }
  }

 private:
  struct Board {
    int setters = 0;
    int kind = -1;
    int when = 0;
  };

  int set(int board, int kind) {
    Board& chosen = boards_[static_cast<std::size_t>(board)];
    chosen = {chosen.setters + 1, kind, ++clock_};
    last_[static_cast<std::size_t>(kind)] = board;
    return board;
  }

  int begin_;
  int end_;
  std::array<Board, trace::kScoreboards> boards_{};
  std::array<int, 64> last_ = filled();
  int clock_ = 0;

  static constexpr std::array<int, 64> filled() {
    std::array<int, 64> result{};
    result.fill(-1);
    return result;
  }
};

// Gives one block its bits, given the state at its start; keeps the block's code apart from the result.
class BlockAssigner {
 public:
  BlockAssigner(const std::vector<Instruction>& code, const RegisterSet& written_elsewhere,
                const Scoreboards& scoreboards, const CompilerTarget& target)
      : code_(code), written_elsewhere_(written_elsewhere), scoreboards_(scoreboards), target_(target) {}

  std::vector<Instruction> assign(State& state) {
    Scoreboards boards = scoreboards_;
    std::vector<Instruction> result;
    result.reserve(code_.size());
    int time = 0;  // of the next instruction, if nothing holds it back
    std::array<int, 8> pipe_free{};
    for (std::size_t i = 0; i < code_.size(); ++i) {
      Instruction instruction = code_[i];
      instruction.has_control = true;
      instruction.control = {};
      const OpClass op_class = trace::info(instruction.opcode).op_class;
      const auto pipe = static_cast<std::size_t>(trace::info(instruction.opcode).pipe);
      const std::size_t port = op_class == OpClass::imad ? 7 : pipe;

      int issue = std::max(time, pipe_free[port]);
      std::uint8_t wait = 0;
      for (const RegisterRange& source : instruction.sources) {
        each(source, [&](std::size_t r) {
          issue = std::max(issue, state.ready_in[r]);
          wait = static_cast<std::uint8_t>(wait | state.write_boards[r]);
        });
      }
      const bool variable = trace::has_variable_latency(op_class);
      const int latency = planned_latency(target_, instruction.opcode);
      each(instruction.destination, [&](std::size_t r) {
        // Results must not arrive in the wrong order.
        issue = std::max(issue, state.ready_in[r] - (variable ? 1 : latency));
        wait = static_cast<std::uint8_t>(wait | state.write_boards[r] | state.read_boards[r]);
      });
      stall_until(result, time, issue);
      pipe_free[port] = issue + port_time(instruction.opcode);

      instruction.control.wait_mask = wait;
      boards.waited(wait);
      clear(state, wait);
      if (variable) {
        if (instruction.destination.count > 0) {
          const int board =
              is_late_load(code_, i) ? kLateLoadScoreboard : boards.assign(static_cast<int>(op_class));
          instruction.control.write_scoreboard = static_cast<std::uint8_t>(board);
          each(instruction.destination, [&](std::size_t r) {
            state.ready_in[r] = 0;
            state.write_boards[r] = static_cast<std::uint8_t>(1U << board);
          });
        }
        const Reuse reuse = op_class == OpClass::xu ? Reuse::none : source_reuse(i);
        if (reuse != Reuse::none) {
          const int board =
              boards.assign(reuse == Reuse::later ? kLateRead : kReadKind + static_cast<int>(op_class));
          instruction.control.read_scoreboard = static_cast<std::uint8_t>(board);
          for (const RegisterRange& source : instruction.sources) {
            each(source, [&](std::size_t r) {
              state.read_boards[r] = static_cast<std::uint8_t>(state.read_boards[r] | 1U << board);
            });
          }
        }
      } else {
        each(instruction.destination, [&](std::size_t r) {
          state.ready_in[r] = issue + latency;
          state.write_boards[r] = state.read_boards[r] = 0;
        });
      }
      result.push_back(instruction);
      time = issue + 1;
    }
    for (int& ready_in : state.ready_in) {
      ready_in = std::max(0, ready_in - time);
    }
    return result;
  }

 private:
  // How long the static model of the stall counts keeps a pipe to one instruction.
  int port_time(trace::Opcode opcode) const {
    return is_ldsm(opcode) ? target_.ldsm_interval : issue_interval(target_, opcode);
  }

  static void clear(State& state, std::uint8_t waited) {
    if (waited == 0) {
      return;
    }
    for (const std::span<std::uint8_t> boards :
         {std::span(state.write_boards), std::span(state.read_boards)}) {
      for (std::uint8_t& board : boards) {
        board = static_cast<std::uint8_t>(board & ~waited);
      }
    }
  }

  // Lets the latest instruction stall until `issue`; inserts NOPs where 15 cycles are not enough.
  static void stall_until(std::vector<Instruction>& code, int& time, int issue) {
    while (issue > time) {
      if (code.empty() || code.back().control.stall_cycles == kLongestStall) {
        code.emplace_back().has_control = true;  // a NOP
        ++time;
        continue;
      }
      const int more = std::min(issue - time, kLongestStall - int{code.back().control.stall_cycles});
      code.back().control.stall_cycles = static_cast<std::uint8_t>(code.back().control.stall_cycles + more);
      time += more;
    }
  }

  enum class Reuse : std::uint8_t { none, later, in_block };

  // Whether a source of memory instruction `i` is written again before something waits for its result.
  Reuse source_reuse(std::size_t i) const {
    Reuse result = Reuse::none;
    for (const RegisterRange& source : code_[i].sources) {
      bool open = source.count > 0;
      for (std::size_t j = i + 1; j < code_.size() && open; ++j) {
        if (code_[i].destination.count > 0 && reads(code_[j], code_[i].destination)) {
          open = false;
        } else if (overlaps(code_[j].destination, source)) {
          return Reuse::in_block;
        }
      }
      if (open && code_[i].destination.count == 0) {
        each(source, [&](std::size_t r) {
          if (r < trace::kFirstPredicate && written_elsewhere_[r]) {
            result = Reuse::later;
          }
        });
      }
    }
    return result;
  }

  const std::vector<Instruction>& code_;
  const RegisterSet& written_elsewhere_;  // registers that other blocks, or this one in its next run, write
  const Scoreboards& scoreboards_;
  const CompilerTarget& target_;
};

}  // namespace

void assign_control_bits(VirtualProgram& program, const CompilerTarget& target) {
  const std::size_t blocks = program.blocks.size();
  // Temporaries are written anew in every block, but never while an older use is open: only registers that
  // live across blocks count as written elsewhere.
  RegisterSet carried;
  for (const BlockLiveness& liveness : block_liveness(program)) {
    carried |= liveness.live_in | liveness.live_out;
  }
  RegisterSet written;
  for (const BasicBlock& block : program.blocks) {
    for (const Instruction& instruction : block.code) {
      each(instruction.destination, [&](std::size_t r) {
        if (r < trace::kFirstPredicate) {
          written.set(r);
        }
      });
    }
  }
  written &= carried;

  const Scoreboards scoreboards(has_async_copy(program) ? 1 : 0,
                                has_late_load(program) ? kLateLoadScoreboard : trace::kScoreboards);
  const auto next = successors(program);
  std::vector<State> entry(blocks);
  std::vector<std::vector<Instruction>> result(blocks);
  std::vector<bool> outdated(blocks, true);
  // States only grow, so this ends; two or three rounds are usual.
  while (std::ranges::find(outdated, true) != outdated.end()) {
    for (std::size_t block = 0; block < blocks; ++block) {
      if (!outdated[block]) {
        continue;
      }
      outdated[block] = false;
      State state = entry[block];
      result[block] = BlockAssigner(program.blocks[block].code, written, scoreboards, target).assign(state);
      for (const std::size_t successor : next[block]) {
        if (join(entry[successor], state)) {
          outdated[successor] = true;
        }
      }
    }
  }
  for (std::size_t block = 0; block < blocks; ++block) {
    program.blocks[block].code = std::move(result[block]);
  }
}

}  // namespace warpscope::kernels

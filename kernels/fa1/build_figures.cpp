#include "kernels/fa1/build_figures.hpp"

#include <array>
#include <set>
#include <vector>

#include "kernels/fa1/program.hpp"

namespace warpscope::kernels::fa1 {

namespace {

using trace::Opcode;

/// Instructions per warp and step, by the pipe that the counters name.
struct StepFigures {
  int head_dim;
  bool causal;
  bool first;
  int alu;  ///< integer and logic; with a causal mask one more compare per score
  int fma;  ///< moves and address multiply-adds
  int xu;   ///< 2 of unknown use and, in later key blocks, the reciprocal of the scale
  int uniform;
  int unpiped;   ///< in no pipe's counter: zeroing of accumulators in pairs, and 4 of convergence
  int branches;  ///< beyond those in the program's text
};

constexpr std::array kStepFigures{
    StepFigures{32, false, true, 3, 48, 0, 0, 16, 0},   StepFigures{32, false, false, 7, 50, 0, 0, 20, 0},
    StepFigures{32, true, true, 40, 48, 0, 0, 16, 1},   StepFigures{32, true, false, 45, 60, 0, 0, 20, 3},
    StepFigures{64, false, true, 3, 50, 2, 0, 6, 0},    StepFigures{64, false, false, 9, 57, 3, 9, 24, 0},
    StepFigures{64, true, true, 40, 45, 2, 0, 17, 1},   StepFigures{64, true, false, 51, 79, 3, 0, 24, 3},
    StepFigures{128, false, true, 45, 58, 2, 7, 16, 0}, StepFigures{128, false, false, 47, 81, 3, 20, 24, 2},
    StepFigures{128, true, true, 50, 65, 2, 8, 26, 0},  StepFigures{128, true, false, 65, 83, 3, 24, 18, 5},
};

constexpr int kConvergence = 4;  // BSSY and BSYNC around two divergent stores
// Loads of queries, of the earlier output and of row values, stores of row values and output, each behind a
// branch.
constexpr int kAccesses = 5;
constexpr int kAccessesOfFirst = 3;  // without what is there from earlier key blocks
constexpr int kAmongScores = 4;      // Q K^T takes 42 slots for 32 HMMA and 4 LDSM in the machine code

CountedPart branches(int count) {
  return CountedPart(static_cast<std::size_t>(count), CountedBlock{.end = BlockEnd::branch});
}

// The machine code has a third of the moves before the exponentials and most of the rest in the step's tail.
void add_step(BuildFigures& build, const StepFigures& figures) {
  const int copy = copy_of_step(figures.causal, figures.first);
  const int accesses = figures.first ? kAccessesOfFirst : kAccesses;
  const int alu = figures.alu - accesses;  // the text has a compare for each
  const int moves = figures.fma - kAmongScores - accesses * kAddressLinks;
  const int moves_before = moves / 3;
  const int moves_amid = moves / 4;
  build.parts[{kScores, copy}] = {{.spread = {{Opcode::IMAD_MOV, kAmongScores}}}};
  build.parts[{kMask, copy}] = {
      {.spread = {
           {Opcode::ISETP, alu / 2}, {Opcode::IMAD_MOV, moves_before}, {Opcode::UIADD3, figures.uniform}}}};
  build.parts[{kSoftmax, copy}] = {{.spread = {{Opcode::NOP, figures.unpiped - kConvergence},
                                               {Opcode::IMAD_MOV, moves_amid},
                                               {Opcode::MUFU_RCP, figures.xu}}}};
  build.parts[{kOutput, copy}] = {{.spread = {{Opcode::LOP3, alu - alu / 2},
                                              {Opcode::IMAD_MOV, moves - moves_before - moves_amid},
                                              {Opcode::BSSY, kConvergence / 2},
                                              {Opcode::BSYNC, kConvergence / 2}}}};
  build.parts[{kAddress, copy}] = {{.chain = {{Opcode::IMAD, kAddressLinks}}}};
  build.parts[{kStore, copy}] = branches(figures.branches);
}

// From experiments/reference/machine-code/fa1_loads.csv: for sm_80 the code of CUDA 11.8, the compiler of the
// library's time, which waits for all of them at the queries' store; for sm_90 that of CUDA 13, which is
// measured. Some of these loads stand before the mask and are not waited for there; here all that is not
// waited for there stands behind it.
std::set<int> exchanged_loads(int head_dim, bool causal, bool hopper) {
  std::set<int> result{order_of(kNextQueries, kFirstBlock), order_of(kNextQueries, kLastBlock)};
  if (!hopper || head_dim == 128 || causal) {
    result.insert(order_of(kNextQueries, kMiddleBlock));
  }
  if (!hopper || head_dim != 128 || causal) {
    result.insert(order_of(kEarlierOutput, kLastBlock));
  }
  if (!hopper) {
    result.insert(order_of(kEarlierOutput, kMiddleBlock));
  }
  return result;
}

// Every load of K and V takes a row predicate, an address and zeros for rows beyond the end.
CountedPart key_block_figures(const Config& config) {
  constexpr int kBytesPerLoad = 16 * 32 * kWarps;
  const int loads = 2 * config.block_keys * config.head_dim * 2 / kBytesPerLoad;
  return {{.spread = {{Opcode::ISETP, 2 * loads}, {Opcode::IMAD, 2 * loads}, {Opcode::CS2R, 2 * loads}}}};
}

// One thread per row stores: a branch for each row that a thread holds, one of which the text has.
CountedPart row_state_figures(const Config& config) {
  const int rows_per_thread = config.step_rows * config.head_dim / 4 / (32 * kWarps);
  return branches(rows_per_thread - 1);
}

}  // namespace

BuildFigures step_figures(int head_dim) {
  BuildFigures build;
  build.estimate_moves = false;  // the counted instructions contain them
  for (const StepFigures& figures : kStepFigures) {
    if (figures.head_dim == head_dim) {
      add_step(build, figures);
    }
  }
  return build;
}

BuildFigures build_figures(const Config& config, bool causal, bool hopper) {
  BuildFigures build = step_figures(config.head_dim);
  build.exchanged = exchanged_loads(config.head_dim, causal, hopper);
  build.parts[{kKeyBlock, 0}] = key_block_figures(config);
  build.parts[{kRowState, 0}] = row_state_figures(config);
  return build;
}

}  // namespace warpscope::kernels::fa1

#include "kernels/fa1/counted.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

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
  int unpiped;  ///< in no pipe's counter: zeroing of accumulators in pairs, and 4 of convergence
  int branches;
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
constexpr int kAmongScores = 4;  // Q K^T takes 42 slots for 32 HMMA and 4 LDSM in the machine code

const StepFigures& figures_of(const Config& config, bool causal, bool first) {
  return *std::ranges::find_if(kStepFigures, [&](const StepFigures& figures) {
    return figures.head_dim == config.head_dim && figures.causal == causal && figures.first == first;
  });
}

}  // namespace

std::vector<CountedInstruction> step_overhead(const Config& config, bool causal, bool first, StepPart part) {
  const StepFigures& figures = figures_of(config, causal, first);
  // The machine code has a third of the moves before the exponentials and most of the rest in the step's
  // tail.
  const int moves = figures.fma - kAmongScores;
  const int moves_before = moves / 3;
  const int moves_amid = moves / 4;
  switch (part) {
    case StepPart::scores:
      return {{Opcode::IMAD_MOV, kAmongScores}};
    case StepPart::mask:
      return {{Opcode::ISETP, figures.alu / 2},
              {Opcode::IMAD_MOV, moves_before},
              {Opcode::UIADD3, figures.uniform}};
    case StepPart::softmax:
      return {{Opcode::CS2R, figures.unpiped - kConvergence},
              {Opcode::IMAD_MOV, moves_amid},
              {Opcode::MUFU_RCP, figures.xu}};
    case StepPart::output:
      break;
  }
  return {{Opcode::LOP3, figures.alu - figures.alu / 2},
          {Opcode::IMAD_MOV, moves - moves_before - moves_amid},
          {Opcode::BSSY, kConvergence / 2},
          {Opcode::BSYNC, kConvergence / 2}};
}

int extra_branches(const Config& config, bool causal, bool first) {
  return figures_of(config, causal, first).branches;
}

std::vector<CountedInstruction> key_block_overhead(const Config& config) {
  constexpr int kBytesPerLoad = 16 * 32 * kWarps;
  const int loads = 2 * config.block_keys * config.head_dim * 2 / kBytesPerLoad;
  return {{Opcode::ISETP, 2 * loads}, {Opcode::IMAD, 2 * loads}, {Opcode::CS2R, 2 * loads}};
}

}  // namespace warpscope::kernels::fa1

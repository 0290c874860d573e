// Which of its six scoreboards a warp's instruction of unknown latency sets, within one basic block.
#pragma once

#include <array>
#include <cstdint>

#include "model/trace/instruction.hpp"

namespace warpscope::kernels {

/// Hands out the scoreboards of one block: a free one if there is one, else the latest of the same kind.
class Scoreboards {
 public:
  /// For a block of a program with such instructions anywhere. Number 0 is left to cp.async. Loads from
  /// global memory that no instruction of their block reads hold the last one together, in every block, and
  /// nothing else uses it: so do all such loads in FlashAttention-1's machine code, for sm_80 and sm_90.
  /// Where HMMAs have one, it is the last one left.
  Scoreboards(bool async_copies, bool late_loads, bool hmma);

  /// For results and sources of HMMAs.
  int hmma() const { return end_; }

  /// For the result of an instruction of `op_class`.
  int result(trace::OpClass op_class);
  /// For the result of a global load that no instruction of its block reads.
  static constexpr int late_load() { return trace::kScoreboards - 1; }
  /// The same of a global load in a block that has no late one. It shares theirs once only two are free, so
  /// that nothing from shared memory waits for it: of four loads in the backward loops of PyTorch 2.11, for
  /// sm_90, two have a scoreboard of their own (experiments/reference/machine-code/README.md).
  int early_load();
  /// For the sources of an instruction of `op_class` that are written again in the block.
  int sources(trace::OpClass op_class);
  /// For sources that are written again in another block.
  int late_sources();
  /// Earlier blocks have set the scoreboards of `mask` and this one waits for them: they are taken until
  /// then.
  void hold(std::uint8_t mask);
  /// An instruction has waited for the scoreboards of `mask`: they are free.
  void waited(std::uint8_t mask);

 private:
  struct Board {
    int setters = 0;
    int kind = -1;
    int when = 0;
  };

  int free_boards() const;
  int assign(int kind);
  int set(int board, int kind);

  int begin_;  ///< those up to end_ (exclusive) may be given out
  int end_;
  bool late_loads_;
  std::array<Board, trace::kScoreboards> boards_{};
  int late_sources_ = -1;  ///< the latest that late_sources() gave out
  int clock_ = 0;
};

}  // namespace warpscope::kernels

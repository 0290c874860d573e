// The online softmax: what a key block does to the output, maximum and sum of each row so far.
#pragma once

#include <functional>

#include "kernels/machine/machine.hpp"

namespace warpscope::kernels::fa2 {

/// State of the rows between key blocks; the output is not yet divided by `sum` where division is deferred.
struct RowState {
  Fragment o;
  RowVector max;  ///< of the raw scores
  RowVector sum;  ///< of the exponentials; deferred: each lane holds its own part
};

/// What a key block does to the state.
struct SoftmaxStep {
  bool first = false;           ///< no earlier block to rescale
  bool rows_may_empty = false;  ///< all scores of a row may be masked so far
  bool deferred = true;         ///< division by the row sum waits for the epilogue
  bool unit_sum = false;        ///< `max` is a log-sum-exp in the scale of the scores: the sum so far is one
};

/// Each thread's own part of the new maximum, keeping the old one. Returns the old one, undefined in a first
/// block.
RowVector own_row_max(CtaMachine& m, const RowState& state, const Fragment& scores, const SoftmaxStep& step);

/// Turns lanes' parts of a sum over a row into the whole sum.
using CompleteSum = std::function<void(const RowVector&)>;

/// With the maximum complete: scores become exponentials, sums are brought up to date, the output so far is
/// rescaled. `scale_log2`: of the scores, times log2(e). `complete` is run only where division is not
/// deferred.
void exponentiate(CtaMachine& m, const RowState& state, const Fragment& scores, const RowVector& previous_max,
                  float scale_log2, const SoftmaxStep& step, const CompleteSum& complete);

/// 1 / sum, to normalise with; 1 for rows without keys.
RowVector inverse_sum(CtaMachine& m, const RowVector& sum, const Fragment& like);

}  // namespace warpscope::kernels::fa2

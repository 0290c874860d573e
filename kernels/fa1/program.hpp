// The CTA program of FlashAttention-1's forward kernel.
#pragma once

#include <functional>

#include "kernels/fa1/config.hpp"
#include "kernels/fa1/schedule.hpp"
#include "kernels/fa1/walk.hpp"
#include "kernels/machine/machine.hpp"

namespace warpscope::kernels::fa1 {

/// Numbers of the tensors in the plan. Where the sum of each row is kept, its tensor stands last: kRowSum, or
/// in the place of kScratch where there is one key block and no scratch memory.
enum Tensor : int { kQ, kK, kV, kO, kLse, kScratch, kRowSum };

inline int row_sum_tensor(const Config& config) {
  return config.loops() ? kRowSum : kScratch;
}

/// Outer loop over key blocks, inner loop over query steps.
class Program {
 public:
  Program(const Problem& problem, const Config& config, const Schedule& schedule);

  void operator()(CtaMachine& machine) const;

 private:
  /// Registers that last as long as a key block.
  struct Resident {
    Fragment k;
    Fragment v;
    RowVector stored;      ///< of the coming step's rows, from earlier key blocks: log-sum-exp, or maximum
    RowVector stored_sum;  ///< where it is kept
  };

  Resident load_key_block(CtaMachine& m, const KeyBlockVisit& visit) const;
  void load_row_state(CtaMachine& m, const Resident& resident, const Affine& row) const;
  void query_step(CtaMachine& m, const Resident& resident, const Step& step) const;
  /// `after_maximum` is run between the maximum of each thread and that of the row.
  void online_softmax(CtaMachine& m, const Resident& resident, const Step& step, const Fragment& scores,
                      const std::function<void()>& after_maximum) const;
  void merge_output(CtaMachine& m, const Step& step, const Fragment& partial, const Fragment& previous) const;
  /// `lse`: registers for the log-sum-exp.
  void store_row_state(CtaMachine& m, const Step& step, const RowVector& max, const RowVector& sum,
                       const RowVector& lse) const;
  void store_output(CtaMachine& m, const Step& step, const Fragment& out) const;

  /// What the build adds to the source depends on the mask.
  bool counted_causal(const Step& step) const {
    return problem_.causal && is_masked(config_, problem_, step);
  }

  GlobalTile rows_of(Tensor tensor, const Affine& row, int rows) const;
  GlobalTile row_values(int tensor, const Affine& row) const;
  SharedTile queries(const Affine& buffer) const;
  SharedTile row_scratch(int offset, int parts) const;

  Config config_;
  Schedule schedule_;
  Affine segment_;
  ElementType type_;
  Problem problem_;
  float scale_;
};

}  // namespace warpscope::kernels::fa1

// The CTA program of FlashAttention-1's forward kernel.
#pragma once

#include "kernels/fa1/config.hpp"
#include "kernels/fa1/schedule.hpp"
#include "kernels/fa1/walk.hpp"
#include "kernels/machine/machine.hpp"

namespace warpscope::kernels::fa1 {

/// Numbers of the tensors in the plan. Where the sum of each row is kept, its tensor stands last: kRowSum, or
/// in the place of kScratch where there is one key block and no scratch memory.
enum Tensor : int { kQ, kK, kV, kO, kLse, kScratch, kRowSum };

/// Marks of the program's parts.
enum Part : int {
  kKeyBlock,  ///< loads of K and V
  kScores,    ///< among the HMMAs of Q K^T
  kMask,      ///< between the loads of the coming step and the row maximum
  kSoftmax,   ///< from the exponentials to the stores of the partial outputs
  kRowState,  ///< what is kept of each row goes to memory
  kOutput,    ///< the reduction and normalisation of the output
  kStore,     ///< of the output
  kAddress,   ///< arithmetic in front of each load or store that stands behind a branch
};

/// Loads that stand before the mask and each thread's part of the maximum, or behind where
/// BuildFigures::exchanged has their order.
enum Load : int { kNextQueries, kEarlierOutput };

/// Steps that differ in their code: under the causal mask or not, of the first key block or a later one.
constexpr int copy_of_step(bool causal_mask, bool first) {
  return 2 * static_cast<int>(causal_mask) + static_cast<int>(first);
}
inline int copy_of_step(const Config& config, const Problem& problem, const Step& step) {
  return copy_of_step(problem.causal && is_masked(config, problem, step), step.first);
}

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
  void load_next_queries(CtaMachine& m, const Step& step, const Fragment& next_q) const;
  /// Each thread's part of the maximum of the masked scores and of what is kept from earlier key blocks.
  void own_maximum(CtaMachine& m, const Resident& resident, const Step& step, const Fragment& scores,
                   const RowVector& max) const;
  /// From there to exponentials and their sums.
  void online_softmax(CtaMachine& m, const Fragment& scores, const RowVector& max,
                      const RowVector& sum) const;
  void merge_output(CtaMachine& m, const Step& step, const Fragment& partial, const Fragment& previous) const;
  /// `lse`: registers for the log-sum-exp.
  void store_row_state(CtaMachine& m, const Step& step, const RowVector& max, const RowVector& sum,
                       const RowVector& lse) const;
  void store_output(CtaMachine& m, const Step& step, const Fragment& out) const;

  void mark(CtaMachine& m, Part part, const Step& step) const {
    m.part(part, copy_of_step(config_, problem_, step));
  }

  /// Behind a branch around rows beyond the end, which differ from step to step.
  void guarded(CtaMachine& m, const Step& step, const std::function<void()>& access) const;

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

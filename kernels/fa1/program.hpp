// The CTA program of FlashAttention-1's forward kernel.
#pragma once

#include <functional>

#include "kernels/fa1/config.hpp"
#include "kernels/fa1/schedule.hpp"
#include "kernels/machine/machine.hpp"

namespace warpscope::kernels::fa1 {

/// Numbers of the tensors in the plan.
enum Tensor : int { kQ, kK, kV, kO, kLse, kScratch };

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
    RowVector stored_lse;  ///< of the coming step's rows, from earlier key blocks
  };
  /// One step's position.
  struct Step {
    Affine row;       ///< first query row
    Affine next_row;  ///< of the step whose queries are fetched meanwhile
    Affine buffer;    ///< of the two query buffers, the one that this step reads
    Affine first_key;
    bool first = false;     ///< first key block
    bool is_final = false;  ///< O is complete after this step
  };

  void key_block(CtaMachine& m, const KeyBlock& block, const Affine& period) const;
  Resident load_key_block(CtaMachine& m, const KeyBlock& block, const Affine& first_key,
                          const Affine& first_row) const;
  void query_step(CtaMachine& m, const Resident& resident, const Step& step) const;
  /// `after_maximum` is run between the maximum of each thread and that of the row.
  void online_softmax(CtaMachine& m, const Resident& resident, const Step& step, const Fragment& scores,
                      const std::function<void()>& after_maximum) const;
  void merge_output(CtaMachine& m, const Step& step, const Fragment& partial, const Fragment& previous) const;
  void store_output(CtaMachine& m, const Step& step, const Fragment& out) const;

  GlobalTile rows_of(Tensor tensor, const Affine& row, int rows) const;
  GlobalTile lse_rows(const Affine& row) const;
  SharedTile queries(const Affine& buffer) const;
  SharedTile row_scratch(int offset, int parts) const;

  Config config_;
  Schedule schedule_;
  Affine segment_;
  ElementType type_;
  std::int64_t seqlen_k_;
  bool causal_;
  float scale_;
};

}  // namespace warpscope::kernels::fa1

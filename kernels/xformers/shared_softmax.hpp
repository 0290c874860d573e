// The online softmax of memory-efficient attention: what warps must know of each other's rows goes through
// shared memory.
#pragma once

#include "kernels/machine/machine.hpp"
#include "kernels/xformers/forward_shape.hpp"

namespace warpscope::kernels::xformers {

/// iterative_softmax of kernel_forward.h. Four warps or eight share each row; one thread per row keeps its
/// maximum and sum.
class SharedSoftmax {
 public:
  SharedSoftmax(CtaMachine& machine, const ForwardShape& shape);

  /// Before the first key block. The next barrier makes it known.
  void start() const;
  /// Scores, in units of log2(e), become exponentials; `output`, if there is one, is rescaled.
  void step(const Fragment& scores, const Fragment* output) const;
  /// What each row of `like` must be rescaled with.
  RowVector rescaling(const Fragment& like) const { return loaded(like, shape_.layout.rescale); }
  /// 1 / sum of each row of `like`.
  RowVector inverse_sums(const Fragment& like) const;
  /// The logarithm of the sum of exponentials, one thread per row.
  RowVector log_sum_exp() const;

 private:
  void update_rescaling() const;
  void exponentiate(const Fragment& scores) const;
  void add_partial_sums() const;
  SharedTile rows_at(int byte_offset, int parts = 1) const;
  RowVector loaded(const Fragment& like, int byte_offset) const;

  CtaMachine& m_;
  const ForwardShape& shape_;
  Fragment owned_rows_;  ///< names the lanes of "one thread per row"
};

}  // namespace warpscope::kernels::xformers

#include "kernels/xformers/staged_product.hpp"

namespace warpscope::kernels::xformers {

void start_copies(CtaMachine& m, const StagedProduct& product) {
  for (int slice = 0; slice < product.slices; ++slice) {
    product.copy(slice);
    m.commit_copies();
  }
}

// The source loops over the slices: a branch ends each (its figures: StagedProduct::part).
void multiply_slices(CtaMachine& m, const StagedProduct& product) {
  const int pending = product.slices - 1;
  m.wait_copies(pending);
  m.barrier();
  for (int slice = 0; slice < product.slices; ++slice) {
    product.multiply(slice);
    m.commit_copies();  // an empty group: one more slice than before is complete behind the wait
    m.wait_copies(pending);
    m.barrier();
    m.part(product.part);
  }
}

}  // namespace warpscope::kernels::xformers

#include "kernels/xformers/staged_product.hpp"

#include <algorithm>

namespace warpscope::kernels::xformers {

void start_copies(CtaMachine& m, const StagedProduct& product) {
  for (int slice = 0; slice < std::min(product.ahead, product.slices); ++slice) {
    product.copy(slice);
    m.commit_copies();
  }
}

// The source loops over all slices: a branch ends each (its figures: StagedProduct::part).
void multiply_slices(CtaMachine& m, const StagedProduct& product, int rolling_slot) {
  const int ahead = std::min(product.ahead, product.slices);
  const auto next = [&] {
    m.commit_copies();  // an empty group where nothing is left to copy
    m.wait_copies(ahead - 1);
    m.barrier();
    m.part(product.part);
  };
  m.wait_copies(ahead - 1);
  m.barrier();
  const int rolling = product.slices - ahead;
  if (rolling > 0) {
    m.loop(rolling_slot, [&](const Affine& slice) {
      product.multiply(slice);
      product.copy(slice + ahead);
      next();
    });
  }
  for (int slice = rolling; slice < product.slices; ++slice) {
    product.multiply(slice);
    next();
  }
}

// The source has one loop, in which copies behind the last slice are predicated off.
void multiply_in_loops(CtaMachine& m, const StagedProduct& product, const SliceLoops& loops) {
  const int ahead = std::min(product.ahead, product.slices);
  const int rolling = product.slices - ahead;
  const auto wait = [&] {
    m.commit_copies();
    m.wait_copies(ahead - 1);
    m.barrier();
  };
  m.wait_copies(ahead - 1);
  m.barrier();
  if (rolling > 0) {
    m.loop(loops.rolling, [&](const Affine& slice) {
      m.part(product.part);
      product.multiply(slice);
      product.copy(slice + ahead);
      wait();
    });
  }
  m.loop(loops.last, [&](const Affine& slice) {
    m.part(product.part, 1);
    product.multiply(slice + rolling);
    wait();
  });
}

}  // namespace warpscope::kernels::xformers

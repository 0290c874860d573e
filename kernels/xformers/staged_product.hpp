// Products in slices of their inner dimension, with copies that run ahead (CUTLASS: MmaMultistage).
#pragma once

#include <functional>

#include "kernels/machine/machine.hpp"

namespace warpscope::kernels::xformers {

struct StagedProduct {
  int slices = 0;
  int ahead = 0;  ///< copies under way before the first slice is multiplied, each in a group of its own
  int part = 0;   ///< mark behind each slice
  /// Copies slice number `slice`.
  std::function<void(const Affine& slice)> copy;
  /// Adds the product of slice number `slice`.
  std::function<void(const Affine& slice)> multiply;
};

/// Issues the copies that run ahead.
void start_copies(CtaMachine& machine, const StagedProduct& product);
/// Waits for each slice, with a barrier in front of it, and multiplies; one more barrier stands behind the
/// last. The slices that are multiplied while others are copied take a loop, as often as trip slot
/// `rolling_slot` says: slices - ahead.
void multiply_slices(CtaMachine& machine, const StagedProduct& product, int rolling_slot);

/// The same with loops over all slices, of `loops.rolling` and `loops.last` trip slots: slices - ahead that
/// copy, and ahead that have nothing left to copy (copy 1 of the part).
struct SliceLoops {
  int rolling;
  int last;
};
void multiply_in_loops(CtaMachine& machine, const StagedProduct& product, const SliceLoops& loops);

}  // namespace warpscope::kernels::xformers

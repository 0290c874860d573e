// Products in slices of their inner dimension, with copies that run ahead (CUTLASS: MmaMultistage).
#pragma once

#include <functional>

#include "kernels/machine/machine.hpp"

namespace warpscope::kernels::xformers {

/// All slices of the operands have room in shared memory (kSmemContainsEntireMat): all copies are under way
/// before the first slice is multiplied, each in a group of its own.
struct StagedProduct {
  int slices = 0;  ///< that are copied
  int part = 0;    ///< mark behind each slice
  /// Copies slice number `slice`.
  std::function<void(int slice)> copy;
  /// Adds the product of slice number `slice`.
  std::function<void(int slice)> multiply;
};

/// Issues the copies.
void start_copies(CtaMachine& machine, const StagedProduct& product);
/// Waits for each slice, with a barrier in front of it, and multiplies; one more barrier stands behind the
/// last.
void multiply_slices(CtaMachine& machine, const StagedProduct& product);

}  // namespace warpscope::kernels::xformers

// The forward pass of Triton's attention as a CTA program.
#pragma once

#include "kernels/machine/machine.hpp"
#include "kernels/triton/forward_shape.hpp"

namespace warpscope::kernels::triton {

/// A block of queries.
void forward_program(CtaMachine& machine, const ForwardShape& shape);

}  // namespace warpscope::kernels::triton

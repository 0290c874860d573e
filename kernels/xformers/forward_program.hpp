// The forward pass of memory-efficient attention as a CTA program.
#pragma once

#include "kernels/machine/machine.hpp"
#include "kernels/xformers/forward_shape.hpp"

namespace warpscope::kernels::xformers {

/// A CTA has a block of queries and walks over the key blocks that they see, from the first to the last.
void forward_program(CtaMachine& machine, const ForwardShape& shape);

}  // namespace warpscope::kernels::xformers

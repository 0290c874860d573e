// The reference for attention kernels under the names that tests use.
#pragma once

#include "kernels/numeric/attention.hpp"
#include "kernels/numeric/run_numeric.hpp"

namespace warpscope::tests {

using ReferenceOutput = kernels::AttentionOutput;
using kernels::causal_mask;
using kernels::largest_error;
using kernels::random_inputs;
using kernels::reference_attention;

}  // namespace warpscope::tests

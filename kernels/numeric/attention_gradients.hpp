// Gradients of attention in double precision, and what the forward pass leaves behind for them.
#pragma once

#include <string>
#include <vector>

#include "kernels/kernel.hpp"

namespace warpscope::kernels {

/// Gradients of sum(O * dO) by Q, K and V as dQ, dK and dV, with O = reference_attention of the inputs Q, K,
/// V and dO. K and V that several query heads share get the sum over these. The magnitude of dV is the
/// largest sum of |P dO|; of dQ and dK it contains both terms of dS = P (dP - rowsum(dO O)) apart, since they
/// are rounded before they cancel.
std::vector<Reference> reference_gradients(const Problem& problem, const TensorValues& inputs);

/// What a backward pass finds in an input of that name: O, LSE (natural logarithm, +infinity in rows without
/// keys, as FlashAttention stores it) or probabilities, of seqlen_q x seqlen_k; not rounded, `rows` rows of
/// each batch and head, those beyond the queries zero; or k_copy, the transposes of K. Throws
/// std::logic_error for another name.
std::vector<float> saved_by_forward(const std::string& tensor, std::int64_t rows, const Problem& problem,
                                    const TensorValues& inputs);

}  // namespace warpscope::kernels

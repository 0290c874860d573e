// Attention in double precision and reproducible inputs: what kernels' numbers are checked against.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/kernel.hpp"
#include "kernels/machine/tiles.hpp"

namespace warpscope::kernels {

/// O and LSE in segments of batch * heads + head, rows of queries.
struct AttentionOutput {
  /// seqlen_q x head_dim per segment; 0 in rows without keys. NaN here and below in rows that a sequence does
  /// not have, which nobody writes: shorter ones have the last rows of their segments.
  std::vector<double> output;
  std::vector<double> lse;  ///< natural logarithm, seqlen_q per segment; -inf in rows without keys
  std::vector<double> max;  ///< largest score, likewise
};

/// softmax(Q K^T / sqrt(head_dim)) V of inputs already rounded to the problem's type, with the problem's
/// softcap, ALiBi and window; masks are aligned to the bottom right and query head h reads key head h /
/// (heads / heads_kv).
AttentionOutput reference_attention(const Problem& problem, const TensorValues& inputs);

/// softmax over the keys of query `row`: one value per key, 0 where it is masked. `segment`, of Q, and
/// `segment_kv`, of K and V, number batches and heads.
std::vector<double> attention_probabilities(const Problem& problem, const TensorValues& inputs,
                                            std::int64_t segment, std::int64_t segment_kv, std::int64_t row);

/// Q, K and V of `problem`, rounded to its type, uniform in [-amplitude, amplitude], the same on every
/// machine.
TensorValues random_inputs(const Problem& problem, std::uint32_t seed, float amplitude = 1.0F);

/// seqlen_q x seqlen_k: 1 where key j lies in the future of query i, what eager PyTorch fills with -inf.
std::vector<float> causal_mask(const Problem& problem);

/// Uniform in [-amplitude, amplitude], rounded to `type`, the same on every machine.
std::vector<float> random_values(std::size_t count, ElementType type, std::uint32_t& state, float amplitude);

/// Largest |got - want| where both are finite, 0 where both are NaN; infinity where one is NaN or only one is
/// infinite, or infinite with the other sign.
double largest_error(const std::vector<float>& got, const std::vector<double>& want);

/// Each of the matrices of rows x cols, one behind the other, transposed.
template <typename Value>
std::vector<Value> transposed_matrices(const std::vector<Value>& matrices, std::int64_t rows,
                                       std::int64_t cols) {
  std::vector<Value> result(matrices.size());
  for (std::int64_t e = 0; e < static_cast<std::int64_t>(matrices.size()); ++e) {
    const std::int64_t row = e / cols % rows;
    const std::int64_t first = e - row * cols - e % cols;
    result[static_cast<std::size_t>(first + e % cols * rows + row)] = matrices[static_cast<std::size_t>(e)];
  }
  return result;
}

}  // namespace warpscope::kernels

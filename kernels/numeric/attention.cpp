#include "kernels/numeric/attention.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <stdexcept>

#include "kernels/numeric/philox.hpp"
#include "kernels/numeric/rounding.hpp"
#include "kernels/page_table.hpp"

namespace warpscope::kernels {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

ElementType element_type(const Problem& problem) {
  return problem.dtype == DataType::fp16 ? ElementType::fp16 : ElementType::bf16;
}

std::size_t element(std::int64_t segment, std::int64_t rows, std::int64_t row, std::int64_t cols,
                    std::int64_t col) {
  return static_cast<std::size_t>((segment * rows + row) * cols + col);
}

bool sees(const Problem& p, std::int64_t own, std::int64_t key) {
  return !(p.causal && key > own) && !(p.window.left >= 0 && key < own - p.window.left) &&
         !(p.window.right >= 0 && key > own + p.window.right);
}

/// Rows of a segment that only longer sequences have.
std::int64_t rows_before(const Problem& p, std::int64_t segment) {
  return p.seqlens.empty() ? 0 : p.seqlen_q - p.seqlens[static_cast<std::size_t>(segment / p.heads)];
}

/// First element of the key in K or V, whose pages the problem's table finds.
std::size_t key_element(const Problem& p, const std::vector<float>& table, std::int64_t segment_kv,
                        std::int64_t key) {
  if (table.empty()) {
    return element(segment_kv, p.seqlen_k, key, p.head_dim, 0);
  }
  const std::int64_t pages = pages_per_sequence(p);
  const auto page = static_cast<std::int64_t>(
      table[static_cast<std::size_t>(segment_kv / p.heads_kv * pages + key / p.page_size)]);
  return element(page / pages * p.heads_kv + segment_kv % p.heads_kv, p.seqlen_k,
                 page % pages * p.page_size + key % p.page_size, p.head_dim, 0);
}

std::vector<float> table_of(const Problem& p) {
  return p.page_size > 0 ? page_table(p) : std::vector<float>();
}

// Scores of one query against all keys; -inf where masked.
std::vector<double> scores_of(const Problem& p, const TensorValues& inputs, std::int64_t segment,
                              std::int64_t segment_kv, std::int64_t row) {
  const std::vector<float>& q = inputs.at("Q");
  const std::vector<float>& k = inputs.at("K");
  const std::vector<float> table = table_of(p);
  std::vector<double> scores(static_cast<std::size_t>(p.seqlen_k), -kInfinity);
  const std::int64_t head = segment % p.heads;
  const double slope =
      p.alibi ? std::exp2(-8.0 * static_cast<double>(head + 1) / static_cast<double>(p.heads)) : 0;
  const std::int64_t own = row + p.seqlen_k - p.seqlen_q;
  for (std::int64_t key = rows_before(p, segment); key < p.seqlen_k; ++key) {
    if (!sees(p, own, key)) {
      continue;
    }
    const std::size_t first = key_element(p, table, segment_kv, key);
    double sum = 0;
    for (std::int64_t d = 0; d < p.head_dim; ++d) {
      sum += static_cast<double>(q[element(segment, p.seqlen_q, row, p.head_dim, d)]) *
             static_cast<double>(k[first + static_cast<std::size_t>(d)]);
    }
    double score = sum / std::sqrt(static_cast<double>(p.head_dim));
    score = p.softcap != 0 ? p.softcap * std::tanh(score / p.softcap) : score;
    scores[static_cast<std::size_t>(key)] = score - slope * static_cast<double>(std::abs(own - key));
  }
  return scores;
}

void attend(const Problem& p, const TensorValues& inputs, std::int64_t segment, std::int64_t segment_kv,
            std::int64_t row, AttentionOutput& result) {
  const auto out = element(segment, p.seqlen_q, row, p.head_dim, 0);
  if (row < rows_before(p, segment)) {
    std::fill_n(result.output.begin() + static_cast<std::ptrdiff_t>(out), p.head_dim, kNothing);
    result.lse.push_back(kNothing);
    result.max.push_back(kNothing);
    return;
  }
  const std::vector<double> scores = scores_of(p, inputs, segment, segment_kv, row);
  const double max = *std::ranges::max_element(scores);
  result.lse.push_back(-kInfinity);
  result.max.push_back(max);
  if (max == -kInfinity) {
    return;
  }
  double sum = 0;
  for (const double score : scores) {
    sum += std::exp(score - max);
  }
  result.lse.back() = max + std::log(sum);
  const std::vector<float>& v = inputs.at("V");
  const std::vector<float> table = table_of(p);
  for (std::int64_t key = 0; key < p.seqlen_k; ++key) {
    const std::int64_t before = rows_before(p, segment);
    const bool keeps = p.dropout == 0 || keeps_weight(segment, row - before, key - before, p.dropout);
    const double weight =
        keeps ? std::exp(scores[static_cast<std::size_t>(key)] - max) / sum / (1 - p.dropout) : 0;
    const std::size_t first = key_element(p, table, segment_kv, key);
    for (std::int64_t d = 0; d < p.head_dim; ++d) {
      result.output[out + static_cast<std::size_t>(d)] +=
          weight * static_cast<double>(v[first + static_cast<std::size_t>(d)]);
    }
  }
}

}  // namespace

AttentionOutput reference_attention(const Problem& problem, const TensorValues& inputs) {
  AttentionOutput result;
  const std::int64_t group = problem.heads / problem.heads_kv;
  result.output.assign(inputs.at("Q").size(), 0.0);
  for (std::int64_t b = 0; b < problem.batch; ++b) {
    for (std::int64_t h = 0; h < problem.heads; ++h) {
      for (std::int64_t row = 0; row < problem.seqlen_q; ++row) {
        attend(problem, inputs, b * problem.heads + h, b * problem.heads_kv + h / group, row, result);
      }
    }
  }
  return result;
}

std::vector<double> attention_probabilities(const Problem& problem, const TensorValues& inputs,
                                            std::int64_t segment, std::int64_t segment_kv, std::int64_t row) {
  std::vector<double> values = scores_of(problem, inputs, segment, segment_kv, row);
  const double max = *std::ranges::max_element(values);
  double sum = 0;
  for (double& value : values) {
    value = max == -kInfinity ? 0 : std::exp(value - max);
    sum += value;
  }
  for (double& value : values) {
    value = sum > 0 ? value / sum : 0;
  }
  return values;
}

std::vector<float> random_values(std::size_t count, ElementType type, std::uint32_t& state, float amplitude) {
  std::vector<float> values(count);
  for (float& value : values) {
    // Numerical Recipes' linear congruential generator; the high bits are good enough for test data.
    state = state * 1664525U + 1013904223U;
    const auto high = static_cast<float>(state >> 8U);
    value = round_to(type, (high / 8388608.0F - 1.0F) * amplitude);
  }
  return values;
}

TensorValues random_inputs(const Problem& problem, std::uint32_t seed, float amplitude) {
  const auto make = [&](std::int64_t heads, std::int64_t rows) {
    return random_values(static_cast<std::size_t>(problem.batch * heads * rows * problem.head_dim),
                         element_type(problem), seed, amplitude);
  };
  TensorValues inputs;
  inputs["Q"] = make(problem.heads, problem.seqlen_q);
  inputs["K"] = make(problem.heads_kv, problem.seqlen_k);
  inputs["V"] = make(problem.heads_kv, problem.seqlen_k);
  return inputs;
}

std::vector<float> causal_mask(const Problem& problem) {
  std::vector<float> mask;
  for (std::int64_t i = 0; i < problem.seqlen_q; ++i) {
    for (std::int64_t j = 0; j < problem.seqlen_k; ++j) {
      mask.push_back(j > i + problem.seqlen_k - problem.seqlen_q ? 1.0F : 0.0F);
    }
  }
  return mask;
}

double largest_error(const std::vector<float>& got, const std::vector<double>& want) {
  if (got.size() != want.size()) {
    throw std::invalid_argument("outputs of different size cannot be compared");
  }
  double largest = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const auto value = static_cast<double>(got[i]);
    if (std::isnan(value) && std::isnan(want[i])) {
      continue;
    }
    if (std::isnan(value) || std::isinf(value) || std::isinf(want[i])) {
      if (value != want[i]) {
        return kInfinity;
      }
      continue;
    }
    largest = std::max(largest, std::abs(value - want[i]));
  }
  return largest;
}

}  // namespace warpscope::kernels

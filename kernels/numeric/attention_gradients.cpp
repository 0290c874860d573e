#include "kernels/numeric/attention_gradients.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <numbers>
#include <stdexcept>
#include <utility>

#include "kernels/numeric/attention.hpp"

namespace warpscope::kernels {
namespace {

/// A gradient under way, and the sizes of the terms that were added up.
struct Gradient {
  explicit Gradient(std::size_t count) : values(count, 0.0), sizes(count, 0.0) {}

  void add(std::size_t element, double value, double size) {
    values[element] += value;
    sizes[element] += size;
  }
  Reference reference(std::string name) && {
    const double magnitude = *std::ranges::max_element(sizes);
    return {std::move(name), std::move(values), magnitude};
  }

  std::vector<double> values;
  std::vector<double> sizes;
};

/// Calls visit(segment, segment of keys, row) for all queries.
void for_each_query(const Problem& p, const auto& visit) {
  const std::int64_t group = p.heads / p.heads_kv;
  for (std::int64_t b = 0; b < p.batch; ++b) {
    for (std::int64_t h = 0; h < p.heads; ++h) {
      for (std::int64_t row = 0; row < p.seqlen_q; ++row) {
        visit(b * p.heads + h, b * p.heads_kv + h / group, row);
      }
    }
  }
}

class Backward {
 public:
  Backward(const Problem& problem, const TensorValues& inputs)
      : p_(problem),
        q_(inputs.at("Q")),
        k_(inputs.at("K")),
        v_(inputs.at("V")),
        grad_(inputs.at("dO")),
        inputs_(inputs),
        dq_(q_.size()),
        dk_(k_.size()),
        dv_(v_.size()) {}

  std::vector<Reference> run() && {
    for_each_query(p_, [this](std::int64_t segment, std::int64_t segment_kv, std::int64_t row) {
      query(static_cast<std::size_t>((segment * p_.seqlen_q + row) * p_.head_dim), segment_kv,
            attention_probabilities(p_, inputs_, segment, segment_kv, row));
    });
    return {std::move(dq_).reference("dQ"), std::move(dk_).reference("dK"), std::move(dv_).reference("dV")};
  }

 private:
  std::size_t depth() const { return static_cast<std::size_t>(p_.head_dim); }

  void query(std::size_t at_q, std::int64_t segment_kv, const std::vector<double>& probabilities) {
    const auto first_key = static_cast<std::size_t>(segment_kv * p_.seqlen_k);
    std::vector<double> grad_p(probabilities.size());
    double row_sum = 0;  // of dO * O = P * dP
    std::vector<double> o(depth());
    for (std::size_t j = 0; j < probabilities.size(); ++j) {
      for (std::size_t c = 0; c < depth(); ++c) {
        const double value = v_[(first_key + j) * depth() + c];
        grad_p[j] += grad_[at_q + c] * value;
        o[c] += probabilities[j] * value;
      }
      row_sum += probabilities[j] * grad_p[j];
    }
    double row_sum_size = 0;  // of the products dO * O, of which O is rounded
    for (std::size_t c = 0; c < depth(); ++c) {
      row_sum_size += std::abs(grad_[at_q + c] * o[c]);
    }
    const double scale = 1 / std::sqrt(static_cast<double>(p_.head_dim));
    for (std::size_t j = 0; j < probabilities.size(); ++j) {
      const double p = probabilities[j];
      const double grad_s = scale * p * (grad_p[j] - row_sum);
      const double size = scale * p * (std::abs(grad_p[j]) + row_sum_size);
      for (std::size_t c = 0; c < depth(); ++c) {
        const std::size_t at_q_c = at_q + c;
        const std::size_t at_k_c = (first_key + j) * depth() + c;
        dq_.add(at_q_c, grad_s * k_[at_k_c], size * std::abs(k_[at_k_c]));
        dk_.add(at_k_c, grad_s * q_[at_q_c], size * std::abs(q_[at_q_c]));
        dv_.add(at_k_c, p * grad_[at_q_c], p * std::abs(grad_[at_q_c]));
      }
    }
  }

  const Problem& p_;
  const std::vector<float>& q_;
  const std::vector<float>& k_;
  const std::vector<float>& v_;
  const std::vector<float>& grad_;
  const TensorValues& inputs_;
  Gradient dq_;
  Gradient dk_;
  Gradient dv_;
};

std::vector<double> probabilities(const Problem& problem, const TensorValues& inputs) {
  std::vector<double> result;
  for_each_query(problem, [&](std::int64_t segment, std::int64_t segment_kv, std::int64_t row) {
    std::ranges::copy(attention_probabilities(problem, inputs, segment, segment_kv, row),
                      std::back_inserter(result));
  });
  return result;
}

}  // namespace

std::vector<Reference> reference_gradients(const Problem& problem, const TensorValues& inputs) {
  return Backward(problem, inputs).run();
}

std::vector<float> saved_by_forward(const std::string& tensor, std::int64_t rows, const Problem& problem,
                                    const TensorValues& inputs) {
  std::vector<double> values;
  if (tensor == "k_copy") {
    return transposed_matrices(inputs.at("K"), problem.seqlen_k, problem.head_dim);
  }
  if (tensor == "probabilities") {
    values = probabilities(problem, inputs);
  } else if (tensor == "O") {
    values = reference_attention(problem, inputs).output;
  } else if (tensor == "LSE") {
    values = reference_attention(problem, inputs).lse;
    constexpr double kNoKeys = std::numeric_limits<double>::infinity();
    std::ranges::replace(values, -kNoKeys, kNoKeys);
  } else if (tensor == "row_max" || tensor == "row_sum") {
    const AttentionOutput output = reference_attention(problem, inputs);
    std::ranges::transform(output.max, output.lse, std::back_inserter(values), [&](double max, double lse) {
      return tensor == "row_max" ? max * std::numbers::log2e : std::exp(lse - max);
    });
  } else {
    throw std::logic_error("the forward pass of attention leaves no tensor " + tensor + " behind");
  }
  const std::int64_t segments = problem.batch * problem.heads;
  const std::int64_t cols = static_cast<std::int64_t>(values.size()) / (segments * problem.seqlen_q);
  std::vector<float> result(static_cast<std::size_t>(segments * rows * cols), 0.0F);
  for (std::int64_t segment = 0; segment < segments; ++segment) {
    for (std::int64_t e = 0; e < problem.seqlen_q * cols; ++e) {
      result[static_cast<std::size_t>(segment * rows * cols + e)] =
          static_cast<float>(values[static_cast<std::size_t>(segment * problem.seqlen_q * cols + e)]);
    }
  }
  return result;
}

}  // namespace warpscope::kernels

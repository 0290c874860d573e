#include "kernels/fa1/config.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "kernels/unsupported.hpp"

namespace warpscope::kernels::fa1 {

namespace {

constexpr int kMaxSplits = 30;
constexpr std::int64_t kRegistersPerSm = 65536;      // all GPUs since Kepler
constexpr std::int64_t kReservedBytesPerCta = 1024;  // shared memory that the driver takes per CTA
constexpr std::int64_t kThreads = 32 * kWarps;

void check(const Problem& problem) {
  if (problem.pass == Pass::backward) {
    throw UnsupportedProblem("fa1: the backward pass is not modelled yet");
  }
  if (problem.head_dim % 8 != 0 || problem.head_dim > 128) {
    throw UnsupportedProblem("fa1: head_dim must be a multiple of 8 and at most 128, got " +
                             std::to_string(problem.head_dim));
  }
  if (problem.heads_kv != problem.heads) {
    throw UnsupportedProblem("fa1: FlashAttention-1 has no GQA, heads_kv must equal heads (" +
                             std::to_string(problem.heads) + "), got " + std::to_string(problem.heads_kv));
  }
  if (problem.causal && problem.seqlen_q != problem.seqlen_k) {
    throw UnsupportedProblem(
        "fa1: FlashAttention-1 aligns causal masks to the top left, so causal needs seqlen_q = seqlen_k, "
        "got " +
        std::to_string(problem.seqlen_q) + " and " + std::to_string(problem.seqlen_k));
  }
}

std::int64_t ctas_per_sm(const Config& config, const GpuLimits& limits) {
  const std::int64_t by_registers = kRegistersPerSm / (std::int64_t{config.registers_per_thread} * kThreads);
  const std::int64_t by_shared = limits.shared_bytes_per_sm / (config.shared_bytes + kReservedBytesPerCta);
  return std::max<std::int64_t>(
      1, limits.shared_bytes_per_sm > 0 ? std::min(by_registers, by_shared) : by_registers);
}

// The smallest number of splits that fills waves of CTAs to 95 % of the best any number reaches.
int choose_splits(std::int64_t batch_heads, std::int64_t slots) {
  std::array<float, kMaxSplits> efficiency{};
  for (int i = 0; i < kMaxSplits; ++i) {
    const float waves = static_cast<float>(batch_heads * (i + 1)) / static_cast<float>(slots);
    efficiency[static_cast<std::size_t>(i)] = waves / std::ceil(waves);
  }
  const float best = *std::ranges::max_element(efficiency);
  const auto good = std::ranges::find_if(efficiency, [best](float value) { return value > 0.95F * best; });
  return static_cast<int>(good - efficiency.begin()) + 1;
}

void lay_out_shared_memory(Config& config) {
  const int query_bytes = kStepRows * config.head_dim * 2;
  const int row_bytes = kStepRows * 4;
  config.q_offset = 0;
  config.kv_offset = 2 * query_bytes;
  config.partial_offset = config.kv_offset;
  config.sum_offset = config.partial_offset + kWarps * kStepRows * config.head_dim * 4;
  config.max_offset = config.sum_offset + kWarps * row_bytes;
  const int kv_end = config.kv_offset + config.block_keys * config.head_dim * 2;
  config.lse_offset = std::max(kv_end, config.max_offset + kWarps * row_bytes);
  // The source reserves two row vectors for the stored logarithm and uses one.
  config.shared_bytes = config.lse_offset + (config.loops() ? 2 * row_bytes : 0);
}

}  // namespace

Config configure(const Problem& problem, const GpuLimits& limits) {
  check(problem);
  Config config;
  config.head_dim = problem.head_dim <= 32 ? 32 : problem.head_dim <= 64 ? 64 : 128;
  config.block_keys = config.head_dim == 128 || problem.seqlen_k <= 128 ? 128 : 256;
  config.registers_per_thread = config.head_dim == 32 ? 168 : 255;
  config.key_blocks = static_cast<int>((problem.seqlen_k + config.block_keys - 1) / config.block_keys);
  config.query_steps = static_cast<int>((problem.seqlen_q + kStepRows - 1) / kStepRows);
  lay_out_shared_memory(config);
  config.num_splits =
      choose_splits(problem.batch * problem.heads, limits.sm_count * ctas_per_sm(config, limits));
  return config;
}

}  // namespace warpscope::kernels::fa1

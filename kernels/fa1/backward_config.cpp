#include "kernels/fa1/backward_config.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "kernels/unsupported.hpp"

namespace warpscope::kernels::fa1 {
namespace {

constexpr std::uint32_t kRegisters = 255;  // 241 to 255 in counters.csv, the same in steps of allocation

/// GPUs whose CTAs may have most of 160 KB of shared memory.
bool has_large_shared_memory(const GpuLimits& limits) {
  return limits.compute_capability_major >= 8 && limits.compute_capability_minor == 0;
}

void check_backward(const Problem& problem, const GpuLimits& limits) {
  check_supported(problem);
  if (problem.head_dim > 64 && !has_large_shared_memory(limits)) {
    throw UnsupportedProblem(
        "fa1: backward for head_dim above 64 requires A100 or H100, since it needs a large amount of shared "
        "memory, got " +
        std::to_string(problem.head_dim) + " on compute capability " +
        std::to_string(limits.compute_capability_major) + "." +
        std::to_string(limits.compute_capability_minor));
  }
}

void lay_out_shared_memory(BackwardConfig& config) {
  constexpr int kBytes = 2;  // of fp16 and bf16
  const Config& blocks = config.blocks;
  const int query_bytes = 2 * blocks.step_rows * blocks.head_dim * kBytes;
  const int key_bytes = blocks.block_keys * blocks.head_dim * kBytes;
  const int score_bytes = blocks.step_rows * blocks.block_keys * kBytes;
  config.grad_o_offset = query_bytes;
  config.k_offset = 2 * query_bytes;
  config.v_offset = config.k_offset + (config.v_in_registers ? 0 : key_bytes);
  config.partial_offset = config.v_offset + key_bytes;
  const int partial_bytes =
      blocks.options.split_q ? 0 : kBackwardWarps * blocks.step_rows * blocks.head_dim * 4;
  config.p_offset = config.partial_offset + partial_bytes;
  config.grad_s_offset = config.p_offset + score_bytes;
  config.shared_bytes = config.grad_s_offset + score_bytes;
}

int divide_up(std::int64_t value, int divisor) {
  return static_cast<int>((value + divisor - 1) / divisor);
}

// So few that each warp has one tile of mma in dQ, where warps own pieces of it; else the source's 16.
int step_rows(const AttentionOptions& options, int head_dim) {
  constexpr int kAtom = 16;
  return options.split_q ? std::max(kAtom, kAtom * kAtom * kBackwardWarps / head_dim) : kAtom;
}

}  // namespace

bool prefers_sequence_parallel(std::int64_t batch_heads, std::int64_t slots, std::int64_t seqlen,
                               int block_keys, bool causal) {
  const std::int64_t key_blocks = seqlen / block_keys;
  constexpr std::int64_t kManyCausalBlocks = 10;  // from there on it always balances the load
  if (causal && key_blocks >= kManyCausalBlocks) {
    return true;
  }
  const auto efficiency = [slots](std::int64_t ctas) {
    const float waves = static_cast<float>(ctas) / static_cast<float>(slots);
    return waves / std::ceil(waves);
  };
  // What zeroing and copying the sums of dQ costs.
  const float overhead = static_cast<float>(block_keys) / static_cast<float>(seqlen) * (causal ? 0.5F : 1.0F);
  return efficiency(batch_heads) < efficiency(batch_heads * key_blocks) / (1.0F + overhead);
}

BackwardConfig configure_backward(const Problem& problem, const GpuLimits& limits,
                                  const AttentionOptions& options) {
  check_backward(problem, limits);
  BackwardConfig config;
  Config& blocks = config.blocks;
  blocks.options = options;
  blocks.head_dim = padded_head_dim(problem);
  blocks.step_rows = step_rows(options, blocks.head_dim);
  blocks.block_keys = keys_per_block(problem);
  blocks.key_blocks = divide_up(problem.seqlen_k, blocks.block_keys);
  blocks.query_steps = divide_up(problem.seqlen_q, blocks.step_rows);
  blocks.num_splits = 1;
  blocks.registers_per_thread = kRegisters;
  // V stays in shared memory where that spares spilled registers and there is room.
  const bool wide = blocks.head_dim == 128 || (blocks.head_dim == 64 && blocks.block_keys == 256);
  config.v_in_registers = !(wide && has_large_shared_memory(limits));
  lay_out_shared_memory(config);
  if (config.shared_bytes > limits.shared_bytes_per_cta) {
    throw UnsupportedProblem("fa1 backward at head_dim " + std::to_string(blocks.head_dim) + " needs " +
                             std::to_string(config.shared_bytes) +
                             " bytes of shared memory per CTA; this GPU has " +
                             std::to_string(limits.shared_bytes_per_cta));
  }
  const std::int64_t slots =
      limits.sm_count * ctas_per_sm(kRegisters, config.shared_bytes, kBackwardWarps, limits);
  const std::int64_t seqlen = std::int64_t{blocks.key_blocks} * blocks.block_keys;
  config.sequence_parallel =
      options.seq_parallel || prefers_sequence_parallel(problem.batch * problem.heads, slots, seqlen,
                                                        blocks.block_keys, problem.causal);
  return config;
}

}  // namespace warpscope::kernels::fa1

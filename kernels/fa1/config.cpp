#include "kernels/fa1/config.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "kernels/fa2/tile_table.hpp"
#include "kernels/unsupported.hpp"

namespace warpscope::kernels::fa1 {

namespace {

constexpr int kMaxSplits = 30;
constexpr int kChunkRows = 128;  // of a CTA that has neighbouring queries: FA2's block of queries
constexpr std::int64_t kRegistersPerSm = 65536;      // all GPUs since Kepler
constexpr std::int64_t kReservedBytesPerCta = 1024;  // shared memory that the driver takes per CTA

void lay_out_shared_memory(Config& config) {
  const int query_bytes = config.step_rows * config.head_dim * 2;
  const int row_bytes = config.step_rows * 4;
  config.q_offset = 0;
  config.kv_offset = 2 * query_bytes;
  config.partial_offset = config.kv_offset;
  config.sum_offset = config.partial_offset + kWarps * config.step_rows * config.head_dim * 4;
  config.max_offset = config.sum_offset + kWarps * row_bytes;
  const int kv_end = config.kv_offset + config.block_keys * config.head_dim * 2;
  config.row_offset = std::max(kv_end, config.max_offset + kWarps * row_bytes);
  // The source reserves two row vectors for the stored logarithm and uses one.
  config.shared_bytes = config.row_offset + (config.loops() ? 2 * row_bytes : 0);
}

// Warps that own query rows read K and V as wholes, from shared memory.
void lay_out_whole_key_blocks(Config& config) {
  config.kv_offset = 2 * config.step_rows * config.head_dim * 2;
  config.shared_bytes = config.kv_offset + 2 * config.block_keys * config.head_dim * 2;
}

void choose_tile(Config& config, const Problem& problem, const GpuLimits& limits) {
  config.block_keys = keys_per_block(problem);
  config.step_rows = config.options.split_q ? 16 * kWarps : 16;
  if (config.options.fa2_tile) {
    const fa2::ForwardTile tile = fa2::forward_tile(problem, limits);
    // Sliced-K leaves every warp all rows of the partial output, and the registers have room for 32.
    config.step_rows = config.options.split_q ? tile.rows : 32;
    config.block_keys = tile.keys;
  }
}

}  // namespace

int padded_head_dim(const Problem& problem) {
  return problem.head_dim <= 32 ? 32 : problem.head_dim <= 64 ? 64 : 128;
}

int keys_per_block(const Problem& problem) {
  return padded_head_dim(problem) == 128 || problem.seqlen_k <= 128 ? 128 : 256;
}

void check_supported(const Problem& problem) {
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

std::int64_t ctas_per_sm(std::uint32_t registers_per_thread, std::int64_t shared_bytes, int warps,
                         const GpuLimits& limits) {
  const std::int64_t by_registers = kRegistersPerSm / (std::int64_t{registers_per_thread} * 32 * warps);
  const std::int64_t by_shared = limits.shared_bytes_per_sm / (shared_bytes + kReservedBytesPerCta);
  return std::max<std::int64_t>(
      1, limits.shared_bytes_per_sm > 0 ? std::min(by_registers, by_shared) : by_registers);
}

int choose_splits(std::int64_t batch_heads, std::int64_t slots, int multiple) {
  std::array<float, kMaxSplits> efficiency{};
  for (int splits = multiple; splits <= kMaxSplits; splits += multiple) {
    const float waves = static_cast<float>(batch_heads * splits) / static_cast<float>(slots);
    efficiency[static_cast<std::size_t>(splits - 1)] = waves / std::ceil(waves);
  }
  const float best = *std::ranges::max_element(efficiency);
  const auto good = std::ranges::find_if(efficiency, [best](float value) { return value > 0.95F * best; });
  return static_cast<int>(good - efficiency.begin()) + 1;
}

Config configure(const Problem& problem, const GpuLimits& limits, const AttentionOptions& options) {
  check_supported(problem);
  Config config;
  config.options = options;
  config.head_dim = padded_head_dim(problem);
  choose_tile(config, problem, limits);
  config.registers_per_thread = config.head_dim == 32 ? 168 : 255;
  config.key_blocks = static_cast<int>((problem.seqlen_k + config.block_keys - 1) / config.block_keys);
  config.query_steps = static_cast<int>((problem.seqlen_q + config.step_rows - 1) / config.step_rows);
  if (options.split_q) {
    lay_out_whole_key_blocks(config);
  } else {
    lay_out_shared_memory(config);
  }
  if (options.seq_parallel) {
    config.chunk_steps = std::max(1, kChunkRows / config.step_rows);
    config.num_splits = (config.query_steps + config.chunk_steps - 1) / config.chunk_steps;
  } else {
    const std::int64_t slots =
        limits.sm_count * ctas_per_sm(config.registers_per_thread, config.shared_bytes, kWarps, limits);
    config.num_splits = choose_splits(problem.batch * problem.heads, slots, 1);
  }
  return config;
}

}  // namespace warpscope::kernels::fa1

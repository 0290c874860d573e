#include "kernels/fa2/fa2.hpp"

#include <algorithm>
#include <memory>
#include <string>

#include "kernels/device_memory.hpp"
#include "kernels/fa1/build_figures.hpp"
#include "kernels/fa1/config.hpp"
#include "kernels/fa2/backward.hpp"
#include "kernels/fa2/build_figures.hpp"
#include "kernels/fa2/forward_walk.hpp"
#include "kernels/fa2/key_splits.hpp"
#include "kernels/fa2/sequence_lengths.hpp"
#include "kernels/fa2/split_forward.hpp"
#include "kernels/unsupported.hpp"
#include "kernels/variants/sliced_k_program.hpp"

namespace warpscope::kernels {
namespace {

using fa2::ForwardShape;
using fa2::ForwardTile;

constexpr std::int64_t kMostGridY = 65535;

std::int64_t divide_up(std::int64_t value, std::int64_t divisor) {
  return (value + divisor - 1) / divisor;
}

void refuse(const std::string& reason) {
  throw UnsupportedProblem("fa2 " + reason);
}

// What csrc/flash_attn/flash_api.cpp checks.
void check(const Problem& problem) {
  if (std::min({problem.batch, problem.heads, problem.heads_kv, problem.seqlen_q, problem.seqlen_k}) < 1) {
    refuse("needs batch, heads, heads_kv and sequence lengths of at least 1");
  }
  if (problem.head_dim < 8 || problem.head_dim > 256 || problem.head_dim % 8 != 0) {
    refuse("supports head_dim from 8 to 256 in steps of 8, not " + std::to_string(problem.head_dim));
  }
  if (problem.heads % problem.heads_kv != 0) {
    refuse("needs heads (" + std::to_string(problem.heads) + ") to be a multiple of heads_kv (" +
           std::to_string(problem.heads_kv) + ")");
  }
  if (problem.batch > kMostGridY || problem.heads > kMostGridY) {
    refuse("launches a grid of (query blocks, batch, heads); batch and heads are at most 65535");
  }
}

// What flash_attn_varlen_func is modelled with.
void check_lengths(const Problem& problem) {
  if (problem.seqlens.empty()) {
    return;
  }
  if (problem.pass == Pass::backward) {
    refuse("has sequences of their own lengths (seqlens) in its forward pass only, as it is modelled");
  }
  if (problem.num_splits > 1) {
    refuse("with sequences of their own lengths (seqlens) keeps the keys in one part, not num_splits " +
           std::to_string(problem.num_splits));
  }
}

// What is modelled with dropout, and what csrc/flash_attn/flash_api.cpp refuses.
void check_dropout(const Problem& problem) {
  if (problem.dropout == 0) {
    return;
  }
  if (problem.pass == Pass::backward) {
    refuse("has dropout in its forward pass only, as it is modelled");
  }
  if (problem.num_splits > 1) {
    refuse("with dropout keeps the keys in one part, not num_splits " + std::to_string(problem.num_splits));
  }
  if (problem.softcap != 0) {
    refuse("does not have softcap and dropout together");
  }
}

// What variants with FlashAttention-1's division of work leave out.
void check_variant(const ForwardShape& shape) {
  const Problem& problem = shape.problem;
  const AttentionOptions& options = shape.options;
  if (forward_choices(options) == kFa2Options) {
    return;
  }
  if (shape.tile.head_dim > 128 || shape.tile.head_dim == 96) {
    throw UnsupportedProblem("variants of fa2 support head_dim up to 64 and from 104 to 128, not " +
                             std::to_string(problem.head_dim));
  }
  if (problem.causal && problem.seqlen_q != problem.seqlen_k) {
    throw UnsupportedProblem("variants of fa2 with a causal mask need seqlen_q = seqlen_k, got " +
                             std::to_string(problem.seqlen_q) + " and " + std::to_string(problem.seqlen_k));
  }
  if (shape.ctas_per_head > 0 && problem.causal && !shape.even) {
    throw UnsupportedProblem(
        "variants of fa2 without seq_parallel need, with a causal mask, a sequence length that is a multiple "
        "of " +
        std::to_string(std::max(shape.tile.rows, shape.tile.keys)) + ", got " +
        std::to_string(problem.seqlen_q));
  }
}

// What a thread needs beside its share of the accumulators: 86 to 99 in the builds of tile_table.cpp that do
// not run out of registers.
constexpr int kOtherRegisters = 92;
constexpr int kMostRegisters = 255;

ForwardTile own_tile(ForwardTile tile, const TileShape& wanted) {
  constexpr int kAtom = 16;
  const std::string text =
      std::to_string(wanted.rows) + "x" + std::to_string(wanted.keys) + "x" + std::to_string(wanted.warps);
  if (wanted.warps > 16 || wanted.rows % (kAtom * wanted.warps) != 0 || wanted.keys % kAtom != 0) {
    throw UnsupportedProblem("tile " + text +
                             ": queries must be a multiple of 16 per warp, keys of 16, and warps at most 16");
  }
  // Else the causal mask would cut key blocks beyond the masking steps, which are counted in whole blocks.
  if (wanted.rows % wanted.keys != 0 && wanted.keys % wanted.rows != 0) {
    throw UnsupportedProblem("tile " + text + ": queries and keys must be multiples, the one of the other");
  }
  tile.rows = wanted.rows;
  tile.keys = wanted.keys;
  tile.warps = wanted.warps;
  const int accumulators = tile.rows * (tile.keys + tile.head_dim) / (32 * tile.warps);
  // What FA2's tile at head dimension 128 needs more than there are, and keeps in local memory.
  constexpr int kSpilled = 29;
  if (accumulators + kOtherRegisters > kMostRegisters + kSpilled) {
    throw UnsupportedProblem("tile " + text + " keeps " + std::to_string(accumulators) +
                             " accumulators in each thread and about " + std::to_string(kOtherRegisters) +
                             " other registers; there are " + std::to_string(kMostRegisters));
  }
  tile.registers = std::min(kMostRegisters, accumulators + kOtherRegisters);
  return tile;
}

// The nearest that these loops come to FlashAttention-1's tile, or FlashAttention-2's own.
ForwardTile tile_of(const Problem& problem, const GpuLimits& limits, const AttentionOptions& options) {
  ForwardTile tile = fa2::forward_tile(problem, limits);
  if (options.tile.is_given()) {
    return own_tile(tile, options.tile);
  }
  if (options.fa2_tile && options.split_q) {
    return tile;
  }
  if (!options.fa2_tile) {
    tile.keys = tile.head_dim == 128 || problem.seqlen_k <= 128 ? 128 : 256;
  }
  // A warp has at least the 16 rows of one mma. With sliced-K it has all rows of the partial output, and its
  // registers have room for 32 of 128 columns.
  constexpr int kRowsOfMma = 16;
  tile.rows = options.split_q ? kRowsOfMma * tile.warps : options.fa2_tile ? 2 * kRowsOfMma : kRowsOfMma;
  return tile;
}

int ctas_per_head(const ForwardShape& shape, const GpuLimits& limits, std::uint32_t shared_bytes) {
  const ForwardTile& tile = shape.tile;
  const std::int64_t slots = limits.sm_count * fa1::ctas_per_sm(static_cast<std::uint32_t>(tile.registers),
                                                                shared_bytes, tile.warps, limits);
  // The walk over key blocks gets longer by whole blocks from one of the CTA's query blocks to the next.
  const int multiple = shape.problem.causal ? std::max(1, tile.keys / tile.rows) : 1;
  const int splits = fa1::choose_splits(shape.problem.batch * shape.problem.heads, slots, multiple);
  return static_cast<int>(std::min<std::int64_t>(splits, shape.query_blocks()));
}

std::uint32_t shared_bytes(const ForwardShape& shape) {
  return shape.options.split_q ? shape.tile.shared_bytes() : variants::sliced_k_shared_bytes(shape.tile);
}

ForwardShape shape_of(const Problem& problem, const GpuLimits& limits, const AttentionOptions& options) {
  ForwardShape shape;
  shape.problem = problem;
  shape.options = options;
  shape.tile = tile_of(problem, limits, options);
  const ForwardTile& tile = shape.tile;
  // Above 128 the launch code compiles the even case out to save code size.
  shape.even = problem.seqlen_k % tile.keys == 0 && problem.seqlen_q % tile.rows == 0 &&
               problem.head_dim == tile.head_dim && tile.head_dim <= 128 && !shape.masks_all() &&
               !shape.has_lengths();
  if (problem.causal || shape.has_window()) {
    shape.masking_steps = static_cast<int>(divide_up(tile.rows, tile.keys)) + (shape.even ? 0 : 1);
  }
  if (!options.seq_parallel) {
    shape.ctas_per_head = ctas_per_head(shape, limits, shared_bytes(shape));
  }
  check_variant(shape);
  if (shared_bytes(shape) > limits.shared_bytes_per_cta) {
    throw UnsupportedProblem("the tile needs " + std::to_string(shared_bytes(shape)) +
                             " bytes of shared memory per CTA; this GPU has " +
                             std::to_string(limits.shared_bytes_per_cta));
  }
  return shape;
}

BuildFigures figures_of(const ForwardShape& shape, const GpuLimits& limits, fa2::Build build) {
  const bool causal = shape.problem.causal;
  if (!shape.options.split_q) {
    return fa1::step_figures(shape.tile.head_dim);
  }
  const bool drops = shape.problem.dropout > 0;
  // Builds with ALiBi check columns whatever the head dimension is (flash_fwd_launch_template.h).
  const bool fills_head = shape.problem.head_dim == shape.tile.head_dim && !shape.problem.alibi;
  BuildFigures figures =
      fa2::build_figures(build, shape.tile, causal, shape.even, fills_head, limits.compute_capability_major,
                         !drops && shape.tile == fa2::forward_tile(shape.problem, limits));
  if (drops && build == fa2::Build::upstream) {
    fa2::set_dropout_figures(figures, shape.tile.head_dim);
  }
  return figures;
}

std::vector<TensorSpec> tensors_of(const Problem& problem, const AttentionOptions& options) {
  std::vector<TensorSpec> tensors = fa2::forward_tensors(problem);
  if (!problem.seqlens.empty()) {
    fa2::pack_sequences(tensors, problem);
    return tensors;
  }
  if (!options.lse) {
    tensors[fa2::kLse].name = "row_max";
    tensors.push_back(tensors[fa2::kLse]);
    tensors.back().name = "row_sum";
  }
  return tensors;
}

KernelPlan plan_pass(const Problem& asked, const GpuLimits& limits, fa2::Build build,
                     const AttentionOptions& options) {
  check(asked);
  check_lengths(asked);
  check_dropout(asked);
  const bool library = options == kFa2Options;
  if (asked.pass == Pass::backward) {
    if (asked.window.is_given() || asked.alibi || asked.softcap != 0) {
      refuse("has a window, softcap and ALiBi in its forward pass only, as it is modelled");
    }
    if (asked.page_size > 0) {
      refuse("has pages (page_size) in its forward pass only");
    }
    return fa2::plan_backward(asked, limits, build, options);
  }
  if (asked.deterministic) {
    refuse(
        "has a deterministic mode in its backward pass only, pass bwd or fwd+bwd; its forward pass always "
        "is");
  }
  const Problem problem = library ? fa2::as_called(asked) : asked;
  if (const std::int64_t splits = fa2::key_splits(asked, limits.sm_count);
      splits > 1 || asked.page_size > 0) {
    const bool masks = asked.window.is_given() || asked.alibi || asked.softcap != 0;
    if (asked.page_size > 0 && (masks || !asked.seqlens.empty() || asked.dropout > 0)) {
      refuse(
          "with pages (page_size) is modelled without sequences of their own lengths, dropout, a window, "
          "softcap "
          "and ALiBi");
    }
    if (masks) {
      refuse("with keys in " + std::to_string(splits) +
             " parts (num_splits) is modelled without a window, softcap and ALiBi; num_splits 1 has them");
    }
    return fa2::plan_split(problem, splits, limits, build);
  }
  const auto shape = std::make_shared<const ForwardShape>(shape_of(problem, limits, options));
  KernelPlan plan;
  plan.tensors = tensors_of(problem, options);
  require_memory(plan.tensors, limits);
  LaunchPlan launch;
  launch.name = "flash_fwd_kernel<" + std::to_string(shape->tile.head_dim) + ", " +
                std::to_string(shape->tile.rows) + ", " + std::to_string(shape->tile.keys) + ", " +
                std::to_string(shape->tile.warps) + (problem.causal ? ", causal" : "") +
                (shape->has_window() ? ", local" : "") + (problem.alibi ? ", alibi" : "") +
                (problem.softcap != 0 ? ", softcap" : "") + (problem.dropout > 0 ? ", dropout>" : ">");
  launch.warps = shape->tile.warps;
  launch.registers_per_thread = static_cast<std::uint32_t>(shape->tile.registers);
  launch.shared_bytes_per_cta = shared_bytes(*shape);
  launch.build = figures_of(*shape, limits, build);
  launch.programs.push_back({"attend", [shape](CtaMachine& m) {
                               shape->options.split_q ? fa2::forward_program(m, *shape)
                                                      : variants::sliced_k_program(m, *shape);
                             }});
  launch.programs.push_back({"no_keys", [shape](CtaMachine& m) { fa2::empty_program(m, *shape); }});
  if (shape->has_lengths()) {
    launch.programs.push_back({"beyond", [shape](CtaMachine& m) { fa2::beyond_program(m, *shape); }});
    fa2::add_length_figures(launch.build);
  }
  add_grid(launch, *shape);
  plan.launches.push_back(std::move(launch));
  return plan;
}

}  // namespace

KernelPlan plan_fa2(const Problem& problem, const GpuLimits& limits, const AttentionOptions& options) {
  return plan_pass(problem, limits, fa2::Build::upstream, options);
}

KernelPlan plan_fa2_torch(const Problem& problem, const GpuLimits& limits, const AttentionOptions& options) {
  return plan_pass(problem, limits, fa2::Build::torch, options);
}

KernelPlan plan_fa2_kvcache(const Problem& problem, const GpuLimits& limits) {
  check(problem);
  return fa2::plan_split(fa2::as_called(problem), fa2::key_splits(problem, limits.sm_count), limits,
                         fa2::Build::upstream);
}

}  // namespace warpscope::kernels

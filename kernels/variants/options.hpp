// The choices in which FlashAttention-1 and FlashAttention-2 differ, each on its own.
#pragma once

namespace warpscope::kernels {

/// A tile of one's own: queries by keys of a CTA, and its warps. Zeros where none is asked for.
struct TileShape {
  int rows = 0;
  int keys = 0;
  int warps = 0;

  bool is_given() const { return rows > 0; }
  bool operator==(const TileShape&) const = default;
};

/// How an attention kernel divides and orders its work. kernels/variants/changes.hpp says what each is for,
/// and in which pass.
struct AttentionOptions {
  bool split_q = false;        ///< warps own query rows; else key columns, so that partial outputs are summed
  bool q_stationary = false;   ///< key blocks pass by a block of queries; else queries by a block of keys
  bool deferred = false;       ///< O is divided by the row sum once, at the end; else in every key block
  bool lse = false;            ///< log-sum-exp is kept of every row; else maximum and sum
  bool skip_masked = false;    ///< key blocks beyond the causal mask are left out
  bool mask_at_edge = false;   ///< scores are masked only in blocks that the mask cuts
  bool seq_parallel = false;   ///< a CTA per block of queries; else FA1's few CTAs per head
  bool cp_async = false;       ///< tiles go to shared memory without passing through registers
  bool fa2_tile = false;       ///< the tile of FA2's launch code; else the nearest to FA1's
  bool longest_first = false;  ///< CTAs with the most key blocks start first
  bool warp_grid = false;      ///< a grid of warps shares scores and gradients of keys; else a column of them
  TileShape tile{};            ///< in place of both tiles

  bool operator==(const AttentionOptions&) const = default;
};

/// FlashAttention-1 v1.0.9: it keeps the log-sum-exp and skips blocks beyond the mask already.
inline constexpr AttentionOptions kFa1Options{.lse = true, .skip_masked = true};

/// FlashAttention-2: all but the order of CTAs, which is ascending.
inline constexpr AttentionOptions kFa2Options{.split_q = true,
                                              .q_stationary = true,
                                              .deferred = true,
                                              .lse = true,
                                              .skip_masked = true,
                                              .mask_at_edge = true,
                                              .seq_parallel = true,
                                              .cp_async = true,
                                              .fa2_tile = true,
                                              .warp_grid = true};

/// The same choices, and those that only the backward pass has as FlashAttention-2 makes them.
constexpr AttentionOptions forward_choices(AttentionOptions options) {
  options.warp_grid = kFa2Options.warp_grid;
  return options;
}

}  // namespace warpscope::kernels

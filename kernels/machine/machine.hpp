// The machine that CTA programs are written for. The trace machine turns a program into warp instructions,
// the numeric machine computes with it; both run the same text.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <variant>

#include "kernels/machine/tiles.hpp"

namespace warpscope::kernels {

enum class Reduce : std::uint8_t { max, sum };

enum class UnaryOp : std::uint8_t {
  copy,
  exp2,  ///< fast: MUFU.EX2; slow: with range test (MathBuild)
  log2,
  reciprocal,
  zero_if_minus_infinity,  ///< x == -inf ? 0 : x
  exp,  ///< expf of the mathematics library, whatever the build: 4 FFMA, FADD, shift, MUFU.EX2, FMUL
  reciprocal_or_one,      ///< x == 0 or NaN ? 1 : 1 / x, the normalisation of rows without keys
  log_or_infinity,        ///< x == 0 or NaN ? +inf : ln x
  log_or_minus_infinity,  ///< x == 0 or NaN ? -inf : ln x
  tanh,                   ///< fast: one instruction of the XU pipe
};

enum class BinaryOp : std::uint8_t {
  add,
  subtract,
  multiply,
  divide,  ///< correctly rounded: MUFU.RCP, FCHK, 5 FFMA and the branch past the subroutine for special
           ///< operands, between BSSY and BSYNC
  max,
  masked_fill,  ///< right != 0 ? -inf : left
  masked_zero,  ///< right != 0 ? 0 : left
};

/// Operand of mma: A is m x k, B is k x n. `transposed` says that the tile is stored the other way round
/// (K is stored keys x d, so S = Q K^T takes transposed(K)).
struct MmaOperand {
  std::variant<SharedTile, Fragment> tile;
  bool transposed = false;

  MmaOperand(const SharedTile& shared) : tile(shared) {}    // NOLINT(google-explicit-constructor)
  MmaOperand(const Fragment& fragment) : tile(fragment) {}  // NOLINT(google-explicit-constructor)
};

inline MmaOperand transposed(MmaOperand operand) {
  operand.transposed = true;
  return operand;
}

/// Score (i, j) of the tile becomes -inf where its key is beyond the sequence or in the future of its query:
/// first_col + j >= col_limit, or causal and first_col + j > first_row + i + diagonal, or in a window and
/// further than `left` before or `right` behind first_row + i + diagonal.
struct Mask {
  Affine first_row;
  Affine first_col;
  Affine col_limit = 0;  ///< number of keys
  bool causal = false;
  std::int64_t diagonal = 0;  ///< keys - queries: bottom-right alignment
  bool window = false;
  std::int64_t left = 0;
  std::int64_t right = 0;
};

/// What ALiBi adds to score (i, j): slope * column, or -slope * |row + diagonal - column|, of which the first
/// is enough where all columns lie before their row. Slope: 2^(-8 (head + 1) / heads), divided by `scale`.
struct DistanceBias {
  Affine first_row;
  Affine first_col;
  std::int64_t diagonal = 0;
  bool columns_only = false;
  Affine head;
  std::int64_t heads = 1;
  double scale = 1;
};

/// Which weights FlashAttention-2 keeps: 8 of the 7-round Philox numbers of (block of 16 x 32 weights, head,
/// lane) against a threshold (csrc/flash_attn/src/dropout.h).
struct Dropout {
  Affine first_row;  ///< a multiple of 16
  Affine first_col;  ///< a multiple of 32
  Affine head;       ///< of all sequences
  double probability = 0;
};

/// Trip count of a loop: max(0, trip_counts[slot] + sum_k per_loop[k] * (iteration of the k-th enclosing
/// loop)).
struct Trips {
  int slot = 0;
  std::array<std::int32_t, kMaxProgramLoops> per_loop{};

  Trips(int slot_number) : slot(slot_number) {}  // NOLINT(google-explicit-constructor)
};

/// Whose machine code a branch leads to: some is written out more often in a program than in a build.
enum class Code : std::uint8_t { own, of_loop_before };

/// What decides whether a thread takes a branch.
enum class Condition : std::uint8_t {
  of_thread,     ///< its number alone: the compiler knows that from the kernel's start on
  of_iteration,  ///< also the iteration: a compare in front of the branch
};

/// One CTA executes a program on it. Every operation is executed by all warps of the CTA, each on its part.
/// Operands that name memory take effect in program order; copies become visible after wait_copies and
/// barrier.
class CtaMachine {
 public:
  virtual ~CtaMachine() = default;

  // Registers. Contents are undefined until written.
  virtual Fragment fragment(int rows, int cols, ElementType type, Layout layout, WarpSplit split) = 0;
  /// One value per row of `like`, in the lanes that hold that row.
  virtual RowVector row_vector(const Fragment& like) = 0;
  virtual void fill(const Fragment& target, float value) = 0;
  virtual void fill(const RowVector& target, float value) = 0;
  /// All of row i = value i.
  virtual void fill(const Fragment& target, const RowVector& rows) = 0;

  // Global <-> shared memory.
  /// cp.async, 16 bytes per thread.
  virtual void copy_async(const SharedTile& target, const GlobalTile& source) = 0;
  virtual void commit_copies() = 0;
  /// Waits until at most `pending` committed groups of this thread are unfinished.
  virtual void wait_copies(int pending) = 0;
  /// CTA-wide barrier.
  virtual void barrier() = 0;

  // Global memory <-> registers. In layout accumulator fp32 moves 8 bytes and fp16 4 bytes per thread,
  // else 16; layouts row_per_warp and element_per_thread move single elements.
  virtual void load(const Fragment& target, const GlobalTile& source) = 0;
  virtual void store(const GlobalTile& target, const Fragment& source) = 0;
  /// fp32 atomic add without return value.
  virtual void reduce_add(const GlobalTile& target, const Fragment& source) = 0;
  /// target += what reduce_add has summed, each element in the lane that would add to it: 4 bytes per thread.
  /// A thread loads through `registers` registers in turn, so that as many of its loads are under way.
  virtual void add_sums(const Fragment& target, const GlobalTile& source, int registers) = 0;
  /// rows x 1 fp32 tile; one lane per row stores.
  virtual void load_rows(const RowVector& target, const GlobalTile& source) = 0;
  /// All threads read these numbers of one element each, and do nothing else before they have them. Positions
  /// and trip counts that depend on them are the class's, which has to agree: the last number less the first
  /// is `difference`.
  virtual void read_settled(std::initializer_list<GlobalTile> numbers, const Affine& difference) = 0;
  virtual void store_rows(const GlobalTile& target, const RowVector& source) = 0;

  // Shared memory <-> registers.
  virtual void store_shared(const SharedTile& target, const Fragment& source) = 0;
  /// Layout operand_b loads by LDSM (of `source` stored keys x d; transposed: LDSM.T), others by LDS.
  virtual void load_shared(const Fragment& target, const SharedTile& source, bool transposed = false) = 0;
  /// rows x 1 fp32 tile. All warps that hold a row have the same value of it and one lane of each writes it.
  virtual void store_shared(const SharedTile& target, const RowVector& source) = 0;
  virtual void load_shared(const RowVector& target, const SharedTile& source) = 0;
  /// rows x 1 fp32 tile. Row by row, every lane raises the row's value to the largest of its own elements of
  /// that row, if that is more (atomicMax).
  virtual void max_shared(const SharedTile& target, const Fragment& source) = 0;
  /// Each of the split.k (tiles) or split.n (rows) warps that hold parts writes its own part:
  /// target is (parts * rows) x cols, part p from row p * rows.
  virtual void store_parts(const SharedTile& target, const Fragment& source) = 0;
  virtual void store_parts(const SharedTile& target, const RowVector& source) = 0;
  /// Reads what store_parts wrote and reduces over the parts; target is layout linear (tiles) or any (rows).
  virtual void load_reduced(const Fragment& target, const SharedTile& source, int parts, Reduce op) = 0;
  virtual void load_reduced(const RowVector& target, const SharedTile& source, int parts, Reduce op) = 0;

  // Tensor cores: accumulator += a * b, fp16/bf16 operands, fp32 sums. With b split over keys (operand_b with
  // split n) and an accumulator of split k, each warp sums over its own keys only.
  virtual void mma(const Fragment& accumulator, const MmaOperand& a, const MmaOperand& b) = 0;

  // Warpgroups and the TMA engine of Hopper. Their work goes on while the program does.
  /// Runs body in the warps of these roles only, bit i for role i (LaunchPlan::role_warps). Fragments made in
  /// it and tiles that it moves are dealt out over these warps.
  virtual void role(unsigned roles, const std::function<void()>& body) = 0;
  /// mma by groups of four warps (HGMMA), both operands in shared memory; one group of products.
  virtual void mma_async(const Fragment& accumulator, const MmaOperand& a, const MmaOperand& b) = 0;
  /// Waits until at most `pending` groups of this warp are unfinished; the accumulator may be read if none
  /// is.
  virtual void wait_mma(const Fragment& accumulator, int pending) = 0;
  /// Arrives at the next phase of a ring (LaunchPlan::mbarriers), and waits for the next.
  virtual void arrive(int ring) = 0;
  virtual void wait(int ring) = 0;
  /// One warp copies a box for its last phase of the ring. Of `sharers` CTAs of a cluster, numbered along x,
  /// each asks for its part and gets the whole.
  virtual void copy_box(const SharedTile& target, const GlobalTile& source, int ring, int sharers) = 0;
  virtual void store_box(const GlobalTile& target, const SharedTile& source, int ring) = 0;
  /// The barrier number `name` of so many warps.
  virtual void barrier(int name, int warps) = 0;
  /// Columns of the accumulator from `first_col` on, times `factor`, rounded to the type of the target
  /// (STSM).
  virtual void store_matrix(const SharedTile& target, const Fragment& source, int first_col,
                            float factor) = 0;

  // Arithmetic on tiles, fp32 inside; the result is rounded to the type of the target.
  virtual void mask(const Fragment& scores, const Mask& mask) = 0;
  /// Layout accumulator.
  virtual void add_bias(const Fragment& scores, const DistanceBias& bias) = 0;
  /// Weights that are not kept become 0. Layout accumulator, 16-bit elements.
  virtual void drop(const Fragment& weights, const Dropout& dropout) = 0;
  virtual void convert(const Fragment& target, const Fragment& source) = 0;
  virtual void apply(const Fragment& target, UnaryOp op, const Fragment& source) = 0;
  virtual void apply(const Fragment& target, BinaryOp op, const Fragment& left, const Fragment& right) = 0;
  virtual void apply(const Fragment& target, BinaryOp op, const Fragment& left, float right) = 0;
  /// Row i of the target = op(row i of left, value i of right).
  virtual void apply(const Fragment& target, BinaryOp op, const Fragment& left, const RowVector& right) = 0;
  /// Row i of the target = row i of left * value i of factor + row i of addend.
  virtual void multiply_add(const Fragment& target, const Fragment& left, const RowVector& factor,
                            const Fragment& addend) = 0;
  /// x = exp2(x * scale - offset of its row), with the exponential of the build.
  virtual void exp2_scaled(const Fragment& target, float scale, const RowVector& offset) = 0;

  // Arithmetic on row vectors.
  virtual void apply(const RowVector& target, UnaryOp op, const RowVector& source) = 0;
  virtual void apply(const RowVector& target, BinaryOp op, const RowVector& left, const RowVector& right) = 0;
  virtual void apply(const RowVector& target, BinaryOp op, const RowVector& left, float right) = 0;
  /// target = op over target (if accumulate) and the elements of the row that this thread holds.
  virtual void reduce_rows(const RowVector& target, Reduce op, const Fragment& source, bool accumulate) = 0;
  /// target = target * scale + sum of the elements of the row that this thread holds.
  virtual void rescaled_row_sum(const RowVector& target, const RowVector& scale, const Fragment& source) = 0;
  /// target = target (if accumulate) + sum over the elements of the row that this thread holds of left *
  /// right.
  virtual void row_dot(const RowVector& target, const Fragment& left, const Fragment& right,
                       bool accumulate) = 0;
  /// Completes a reduction over the lanes of one warp that share a row (quad: 2 shuffles, row_per_warp: 5,
  /// fewer where rows share a warp).
  virtual void finish_rows(const RowVector& target, Reduce op) = 0;
  /// Completes a reduction over all threads of the CTA without shuffles, as PyTorch's blockReduce did before
  /// 2024: every thread writes its part to `scratch` (threads x 1, fp32), the lanes of the first warp reduce
  /// runs of 32 parts, its first lane their results. Contains its barriers. Layout row_per_cta.
  virtual void reduce_over_threads(const RowVector& target, const SharedTile& scratch, Reduce op) = 0;

  // Control. All conditions but those of `guarded` are the same for all warps of the CTA.
  /// Runs body(iteration) as often as the class of the CTA says, `code` as in when(). Bodies may be run
  /// several times per iteration variant: they must not change what they capture.
  virtual void loop(const Trips& trips, const std::function<void(const Affine& iteration)>& body,
                    Code code = Code::own) = 0;
  /// Inside a loop: runs body in every iteration but the last. A branch: it ends the basic block before and
  /// after.
  virtual void unless_last(const std::function<void()>& body) = 0;
  /// Runs body if the class's trip count for `slot` is above zero (counts above 1 mean once). A branch, as
  /// above. Code::of_loop_before: to that of the loop or branch right in front of it.
  virtual void when(int slot, const std::function<void()>& body, Code code = Code::own) = 0;
  /// Runs body behind a branch that some threads take and others do not, as where rows may lie beyond the
  /// tensor; tiles say themselves which elements that concerns. The compiler moves nothing across it.
  virtual void guarded(const std::function<void()>& body, Condition condition = Condition::of_thread) = 0;

  // Marks. What they mean for a build is data of the launch (BuildFigures); numbers do not depend on them.
  /// A part of the program begins, a number of the kernel's own. Compilers make separate code of a part for
  /// an unrolled iteration, say: such a copy has its own figures.
  virtual void part(int number, int copy = 0) = 0;
  /// Two pieces that do not need each other, in the order of the source. Some builds exchange them.
  virtual void in_either_order(int number, const std::function<void()>& first,
                               const std::function<void()>& second) = 0;
};

}  // namespace warpscope::kernels

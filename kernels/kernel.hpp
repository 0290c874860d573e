// What a kernel is to the rest of the program: a name, the problems it accepts, and the trace it makes of
// one.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/trace/launch.hpp"

namespace warpscope::kernels {

enum class DataType : std::uint8_t { fp16, bf16 };
enum class Pass : std::uint8_t {
  forward,
  backward,  ///< the gradients of Q, K and V, with what the forward pass left behind as input
  both,      ///< forward, then backward, in one stream
};

/// What a kernel computes on, which decides the fields of Problem that it reads.
enum class ProblemType : std::uint8_t {
  attention,  ///< all fields but `matrix`
  rows,       ///< something over the rows of one matrix of rows x cols: `matrix`, `dtype`
  gemm,       ///< `batch` products of rows x depth by depth x cols: `batch`, `matrix`, `dtype`
};

/// What a problem may ask for and not every attention kernel has.
enum class Feature : std::uint8_t {
  splits,         ///< Problem::num_splits
  window,         ///< Problem::window
  softcap,        ///< Problem::softcap
  alibi,          ///< Problem::alibi
  lengths,        ///< Problem::seqlens
  dropout,        ///< Problem::dropout
  pages,          ///< Problem::page_size
  deterministic,  ///< Problem::deterministic
  heads_first,    ///< Problem::heads_first
};

/// Keys that a query sees on either side of its own position, which is counted from the end of both; -1: all.
struct KeyWindow {
  std::int64_t left = -1;
  std::int64_t right = -1;

  bool is_given() const { return left >= 0 || right >= 0; }
  bool operator==(const KeyWindow&) const = default;
};

/// The sizes of problems that are not attention; zeros where they are.
struct MatrixShape {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t depth = 0;  ///< of a product; 0 without one
};

/// A problem of any type. Attention is over `batch` sequences and `heads` query heads. Causal masks are
/// aligned to the bottom right.
struct Problem {
  std::int64_t batch = 1;
  std::int64_t heads = 1;
  std::int64_t heads_kv = 1;  ///< divides heads; fewer than heads is GQA, one is MQA
  std::int64_t seqlen_q = 1;
  std::int64_t seqlen_k = 1;
  std::int64_t head_dim = 64;
  bool causal = false;
  DataType dtype = DataType::fp16;
  Pass pass = Pass::forward;
  ProblemType type = ProblemType::attention;
  MatrixShape matrix{};
  std::int64_t num_splits = 1;  ///< CTAs that share the keys of a query; kAutoSplits: as the library chooses
  KeyWindow window{};
  double softcap = 0;  ///< scores become softcap * tanh(score / softcap); 0: they stay
  bool alibi = false;  ///< head h of H adds -2^(-8 (h + 1) / H) * the distance of key and query
  /// Of each sequence, queries and keys alike: batch numbers, of which the largest is seqlen_q and seqlen_k.
  /// Empty: all have these.
  std::vector<std::int64_t> seqlens{};
  double dropout = 0;  ///< probability with which a weight becomes 0; the others are divided by 1 - dropout
  std::int64_t page_size = 0;  ///< keys per page of K and V; 0: those of a sequence lie together
  bool deterministic =
      false;  ///< the backward pass adds up the parts of dQ in an order that is always the same
  /// The tensors are (batch, heads, tokens, head_dim): the rows of a head lie behind one another. Otherwise
  /// they are (batch, tokens, heads, head_dim).
  bool heads_first = false;
};

inline constexpr std::int64_t kAutoSplits = 0;

/// What a compiler may know of the pipes of a GPU, in cycles; 0: as in all GPUs of its compute capability.
struct PipeTimings {
  int hmma_16816_interval = 0;
  int hmma_1688_interval = 0;
  int hmma_latency = 0;
  int fma_latency = 0;
  int imad_latency = 0;
  int alu_latency = 0;
  int xu_latency = 0;
  int uniform_latency = 0;
  int shared_latency = 0;  ///< of a load, without its transfer
  int shuffle_latency = 0;
};

/// What launch code may know of a GPU when it picks tiles and grids, as the real launch code does.
struct GpuLimits {
  int compute_capability_major = 8;
  int compute_capability_minor = 0;
  int sm_count = 108;
  std::int64_t shared_bytes_per_sm = 0;
  std::int64_t shared_bytes_per_cta = 0;
  std::int64_t memory_bytes = 0;  ///< capacity of HBM; 0 = unknown
  PipeTimings pipes{};            ///< that code is compiled for
};

struct KernelPlan;  // kernels/machine/plan.hpp

/// Values by tensor name, segment by segment in row-major order.
using TensorValues = std::map<std::string, std::vector<float>>;

/// What a kernel should have computed, in double precision.
struct Reference {
  std::string tensor;          ///< the output that is compared
  std::vector<double> values;  ///< as in TensorValues
  double magnitude = 1;        ///< of the terms that make a value: what rounding errors are relative to
};

/// The reference for `problem` on `inputs`, which are rounded to the types of their tensors.
using ReferenceFunction = std::function<Reference(const Problem& problem, const TensorValues& inputs)>;

struct Kernel {
  std::string name;
  std::string description;
  /// One pass of the kernel, forward or backward, as CTA programs for any machine. Throws UnsupportedProblem
  /// with the reason where the real kernel refuses `problem`.
  std::function<KernelPlan(const Problem& problem, const GpuLimits& limits)> plan;
  ProblemType type = ProblemType::attention;  ///< what it takes
  /// What its numbers are checked against; attention (kernels/numeric) where there is none.
  ReferenceFunction reference{};
  /// Roundings to the problem's type between inputs and output; each may cost one unit in the last place of
  /// `magnitude`.
  int roundings = 1;
  std::vector<Pass> passes{Pass::forward};  ///< that `plan` has; Pass::both follows from having the two
  /// As `roundings`, of a gradient. FlashAttention's: of O, of P or dS, and of the gradient itself.
  int backward_roundings = 3;
  std::vector<Feature> features{};
  /// Which build its instruction streams are of, and how that was counted; empty where no build was.
  std::string source_build{};

  bool has(Pass pass) const;
  /// Throws UnsupportedProblem that names what `problem` asks for and this kernel lacks, and who has it.
  void require_features(const Problem& problem) const;
  /// "fwd", or "fwd, bwd, fwd+bwd".
  std::string legal_passes() const;
  /// The kernel as warp instructions, a trace for each pass of the problem. Throws as `plan` does,
  /// UnsupportedProblem for a pass that the kernel lacks, and std::invalid_argument for a problem of another
  /// type.
  std::vector<trace::Trace> build_passes(const Problem& problem, const GpuLimits& limits) const;
  /// The same in one stream, in which tensors of one name are one tensor.
  trace::Trace build(const Problem& problem, const GpuLimits& limits) const;
};

/// "fwd", "bwd" or "fwd+bwd".
const char* text(Pass pass);
/// The problem once for each of its passes, in the order in which they run. A forward pass before a backward
/// pass is not asked to be deterministic: it always is.
std::vector<Problem> problem_by_pass(const Problem& problem);

/// All kernels by name, without their variants.
std::span<const Kernel> all_kernels();
/// The kernel of that name, or the variant: "fa1", "fa1+split_q". Throws std::invalid_argument that says what
/// is legal; the caller says of what.
Kernel find_kernel(std::string_view name);

}  // namespace warpscope::kernels

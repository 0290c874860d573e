// What a kernel is to the rest of the program: a name, the problems it accepts, and the trace it makes of
// one.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "model/trace/launch.hpp"

namespace warpscope::kernels {

enum class DataType : std::uint8_t { fp16, bf16 };
enum class Pass : std::uint8_t { forward, backward };

/// Attention over `batch` sequences and `heads` query heads. Causal masks are aligned to the bottom right.
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
};

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

/// One attention implementation.
struct Kernel {
  std::string name;
  std::string description;
  /// The kernel as CTA programs, for any machine. Throws UnsupportedProblem with the reason where the real
  /// kernel refuses `problem`.
  std::function<KernelPlan(const Problem& problem, const GpuLimits& limits)> plan;

  /// The kernel as warp instructions. Throws as `plan` does.
  trace::Trace build(const Problem& problem, const GpuLimits& limits) const;
};

/// All kernels by name, without their variants.
std::span<const Kernel> all_kernels();
/// The kernel of that name, or the variant: "fa1", "fa1+split_q". Throws std::invalid_argument that says what
/// is legal; the caller says of what.
Kernel find_kernel(std::string_view name);

}  // namespace warpscope::kernels

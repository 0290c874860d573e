// A kernel for one problem, before it is lowered: tensors, launches, CTA programs and the classes of CTAs.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "kernels/machine/build_figures.hpp"
#include "kernels/machine/machine.hpp"
#include "model/trace/launch.hpp"

namespace warpscope::kernels {

/// `segments` matrices of rows x cols elements. Where they differ in rows, the longest decides, and what a
/// shorter one has not comes before its rows, so that all end with their segment.
struct TensorSpec {
  std::string name;
  trace::TensorKind kind = trace::TensorKind::input;
  std::int64_t segments = 1;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  ElementType type = ElementType::fp16;
  std::int64_t line_segments = 1;         ///< trace::Tensor; the row_bytes are those of `cols`
  std::int64_t interleaved_segments = 1;  ///< likewise
  bool transposed = false;                ///< holds the transposes of the matrices that the name stands for
  std::int64_t absent_rows = 0;           ///< of all segments together, that shorter matrices do not have
  std::vector<float> values{};  ///< of an input that follows from the problem, a table of positions, say
};

/// CTAs that run one program with the same trip counts and symbols.
struct PlanClass {
  int program = 0;                         ///< index into LaunchPlan::programs
  std::vector<std::uint32_t> trip_counts;  ///< per slot of CtaMachine::loop and when
  std::vector<std::int64_t> symbols;       ///< for class_symbol
};

struct CtaProgram {
  std::string name;
  std::function<void(CtaMachine&)> text;
};

struct LaunchPlan {
  std::string name;
  std::array<std::uint32_t, 3> grid{1, 1, 1};
  int warps = 1;  ///< per CTA
  std::uint32_t registers_per_thread = 32;
  std::uint32_t shared_bytes_per_cta = 0;
  /// Warps of each role (CtaMachine::role), in the order of their numbers; empty: all have one role.
  std::vector<int> role_warps{};
  std::vector<trace::MbarrierRing> mbarriers{};
  BuildFigures build{};
  std::vector<CtaProgram> programs;
  std::vector<PlanClass> classes;
  /// The class of a CTA is the sum over the dimensions of class_of_block[d][blockIdx[d]]; an empty table adds
  /// 0.
  std::array<std::vector<std::uint32_t>, 3> class_of_block;
};

/// Warps of each role; of one role if the launch names none.
inline std::vector<int> warps_by_role(const LaunchPlan& launch) {
  return launch.role_warps.empty() ? std::vector<int>{launch.warps} : launch.role_warps;
}

/// Warps of these roles together, bit i for role i.
inline int warps_of_roles(const LaunchPlan& launch, unsigned roles) {
  int warps = 0;
  for (const int of_role : warps_by_role(launch)) {
    warps += (roles & 1U) != 0 ? of_role : 0;
    roles >>= 1U;
  }
  return warps;
}

/// Launches that run one after another. By convention attention kernels name their tensors Q, K, V, O, LSE.
struct KernelPlan {
  std::vector<TensorSpec> tensors;
  std::vector<LaunchPlan> launches;
  /// Memory of what is alive at once at most, tensors that no launch touches included; 0: all `tensors` are
  /// alive all the time.
  std::int64_t live_bytes = 0;
};

}  // namespace warpscope::kernels

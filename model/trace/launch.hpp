// Kernel launches: a grid of CTAs that share warp programs, and the tensors they touch.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "model/trace/program.hpp"

namespace warpscope::trace {

enum class TensorKind : std::uint8_t {
  input,    ///< read from HBM at least once
  output,   ///< written at least once
  scratch,  ///< lives between or inside launches only; nothing about it is compulsory
  local,    ///< register spills; one segment per resident CTA slot of the chip, whatever `segments` says
};

/// Of memory, and of the caches in front of it.
inline constexpr std::int64_t kLineBytes = 128;

/// `segments` equal pieces of `segment_bytes`, for example one per batch and head.
struct Tensor {
  std::string name;
  TensorKind kind = TensorKind::input;
  std::int64_t segments = 1;
  std::int64_t segment_bytes = 0;
  /// So many segments in a row, the first a multiple of it, lie in memory row by row, as the heads of tokens
  /// do: row i of each comes before row i + 1 of any. 1: a segment lies as a whole.
  std::int64_t interleaved_segments = 1;
  /// So many segments in a row, the first a multiple of it, have their rows in the same 128-byte lines: who
  /// reads one has the L2 bring the others' as well.
  std::int64_t line_segments = 1;
  /// Of these, which follow one another row by row from the begin of a line; 0: row i of all of them lies in
  /// one line. Who reads a row has the L2 bring what others have in its first and last line.
  std::int64_t row_bytes = 0;
  /// Of all segments together, what no memory is there for: segments are equal, and where their contents are
  /// not, the longest decides.
  std::int64_t absent_bytes = 0;

  bool operator==(const Tensor&) const = default;
};

/// CTAs that run the same programs for the same number of iterations.
struct CtaClass {
  std::vector<std::uint16_t> program_of_warp;  ///< per warp of the CTA: index into Launch::programs
  std::vector<std::uint32_t> trip_counts;      ///< per trip slot
  std::vector<std::int64_t> symbols;           ///< values that AffineIndex::symbol refers to

  bool operator==(const CtaClass&) const = default;
};

/// A ring of `slots` mbarriers, whose phases are numbered through: phase p is one of mbarrier p mod slots. It
/// completes when `arrivals` warp instructions have arrived and copies have moved `bytes` for it. A warp's
/// n-th arrival counts for phase n, its copies for the phase of its last arrival, and its n-th wait is for
/// phase n, or for phase n - slots where the ring `starts_open`, as that of free places does.
struct MbarrierRing {
  std::uint16_t slots = 1;
  std::uint16_t arrivals = 1;
  std::uint32_t bytes = 0;
  bool starts_open = false;

  bool operator==(const MbarrierRing&) const = default;
};

struct Launch {
  std::string name;
  std::array<std::uint32_t, 3> grid{1, 1, 1};
  std::uint32_t threads_per_cta = 32;
  std::uint32_t registers_per_thread = 32;
  std::uint32_t shared_bytes_per_cta = 0;  ///< without the part that the driver reserves
  std::vector<MbarrierRing> mbarriers{};   ///< each CTA has its own
  std::vector<WarpProgram> programs;
  std::vector<CtaClass> classes;
  /// The class of a CTA is the sum over the dimensions of class_of_block[d][blockIdx[d]]; an empty table adds
  /// 0.
  std::array<std::vector<std::uint32_t>, 3> class_of_block;

  bool operator==(const Launch&) const = default;
};

/// A stream: launches that run one after another and share tensors.
struct Trace {
  std::vector<Tensor> tensors;
  std::vector<Launch> launches;

  bool operator==(const Trace&) const = default;
};

std::uint32_t warps_per_cta(const Launch& launch);
std::uint64_t cta_count(const Launch& launch);
/// blockIdx of the CTA with this number, counted x fastest.
std::array<std::uint32_t, 3> block_of(const Launch& launch, std::uint64_t cta);
/// Index into launch.classes of CTA (x, y, z).
std::uint32_t class_of(const Launch& launch, std::uint32_t x, std::uint32_t y, std::uint32_t z);

/// Throws std::invalid_argument naming launch, program, instruction and value where the trace breaks a rule:
/// unbalanced loops, missing EXIT, register or barrier out of range, memory operand or tensor that does not
/// exist, class tables that do not fit the grid, warps of a CTA that disagree on the barriers they execute.
void validate(const Trace& trace);

}  // namespace warpscope::trace

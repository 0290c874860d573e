#include "kernels/fa2/figure_table.hpp"

#include <algorithm>
#include <array>

namespace warpscope::kernels::fa2 {
namespace {

using Row = FigureRow;

// Upstream: Dao-AILab/flash-attention 0251105a compiled by nvcc 13.0 with -O3 --use_fast_math for sm_80 and
// sm_90, fp16, even sequence lengths; instructions of the machine code on the path of a CTA, by part, minus
// those that the trace machine expands from the source for the same part. PyTorch 2.11: instructions of its
// sm_90 machine code that the warps of a launch of 2048 tokens executed, as Nsight Compute's source page
// shows them (pytorch_parts.csv), minus the same; where several iterations are masked, each has its share.
// Columns: integer, move, multiply, uniform, special, branch, convert, load, load_64, store, store_64.
// clang-format off
constexpr std::array kRows = {
    Row{Build::upstream, 64, 8, false, kPrologue, kSteady, {46, 1, 63, 14, 5, 0, 3, 0, 0, 1, 3}},
    Row{Build::upstream, 64, 8, false, kScores, kFirst, {27, 3, 56, 0, 0, 1, 0, 0, 0, 0, 2}},
    Row{Build::upstream, 64, 8, false, kOutput, kFirst, {3, 123, 74, 1, 0, 1, 0, 35, 1, 31, 0}},
    Row{Build::upstream, 64, 8, false, kScores, kSteady, {0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0}},
    Row{Build::upstream, 64, 8, false, kOutput, kSteady, {0, 13, 0, 0, 0, 0, 0, 38, 2, 38, 0}},
    Row{Build::upstream, 64, 8, false, kEpilogue, kSteady, {65, 12, 32, 6, 8, 1, 0, 0, 0, 0, 0}},
    Row{Build::upstream, 64, 8, true, kPrologue, kSteady, {46, 1, 67, 14, 5, 1, 3, 0, 0, 2, 5}},
    Row{Build::upstream, 64, 8, true, kScores, kFirst, {72, 0, 26, 0, 2, 1, 0, 0, 0, 14, 0}},
    Row{Build::upstream, 64, 8, true, kOutput, kFirst, {8, 140, 89, 1, 0, 1, 0, 29, 1, 20, 0}},
    Row{Build::upstream, 64, 8, true, kScores, kSteady, {0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0}},
    Row{Build::upstream, 64, 8, true, kOutput, kSteady, {0, 21, 0, 0, 0, 0, 0, 25, 2, 25, 0}},
    Row{Build::upstream, 64, 8, true, kEpilogue, kSteady, {54, 12, 28, 6, 7, 1, 0, 6, 2, 0, 0}},
    Row{Build::upstream, 128, 8, false, kPrologue, kSteady, {52, 1, 65, 14, 5, 0, 3, 0, 0, 1, 3}},
    Row{Build::upstream, 128, 8, false, kScores, kFirst, {18, 0, 11, 0, 0, 1, 0, 0, 0, 0, 4}},
    Row{Build::upstream, 128, 8, false, kOutput, kFirst, {2, 114, 95, 0, 0, 1, 0, 24, 0, 20, 0}},
    Row{Build::upstream, 128, 8, false, kScores, kSteady, {0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0}},
    Row{Build::upstream, 128, 8, false, kOutput, kSteady, {0, 69, 0, 0, 0, 0, 0, 4, 2, 4, 0}},
    Row{Build::upstream, 128, 8, false, kEpilogue, kSteady, {58, 16, 25, 6, 8, 1, 0, 4, 0, 0, 0}},
    Row{Build::upstream, 128, 8, true, kPrologue, kSteady, {53, 1, 72, 16, 5, 1, 3, 0, 0, 1, 5}},
    Row{Build::upstream, 128, 8, true, kScores, kFirst, {29, 0, 14, 0, 0, 1, 0, 0, 0, 2, 0}},
    Row{Build::upstream, 128, 8, true, kOutput, kFirst, {23, 49, 171, 1, 0, 0, 0, 23, 1, 26, 0}},
    Row{Build::upstream, 128, 8, true, kScores, kMasking, {12, 25, 182, 4, 1, 1, 0, 0, 0, 2, 0}},
    Row{Build::upstream, 128, 8, true, kOutput, kMasking, {3, 138, 3, 1, 0, 1, 0, 11, 4, 9, 1}},
    Row{Build::upstream, 128, 8, true, kScores, kSteady, {0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0}},
    Row{Build::upstream, 128, 8, true, kOutput, kSteady, {0, 43, 0, 0, 0, 0, 0, 4, 2, 4, 0}},
    Row{Build::upstream, 128, 8, true, kEpilogue, kSteady, {52, 16, 24, 6, 8, 1, 0, 5, 1, 0, 0}},
    Row{Build::upstream, 64, 9, false, kPrologue, kSteady, {49, 0, 67, 25, 14, 0, 3, 0, 0, 0, 3}},
    Row{Build::upstream, 64, 9, false, kScores, kFirst, {16, 0, 17, 0, 0, 1, 0, 0, 0, 1, 1}},
    Row{Build::upstream, 64, 9, false, kOutput, kFirst, {11, 163, 63, 6, 0, 1, 0, 26, 1, 24, 0}},
    Row{Build::upstream, 64, 9, false, kScores, kSteady, {0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0}},
    Row{Build::upstream, 64, 9, false, kOutput, kSteady, {0, 10, 0, 0, 0, 0, 0, 35, 2, 35, 0}},
    Row{Build::upstream, 64, 9, false, kEpilogue, kSteady, {66, 9, 30, 10, 23, 1, 0, 0, 0, 0, 0}},
    Row{Build::upstream, 64, 9, true, kPrologue, kSteady, {45, 0, 62, 26, 14, 1, 3, 0, 0, 1, 3}},
    Row{Build::upstream, 64, 9, true, kScores, kFirst, {50, 0, 34, 0, 0, 1, 0, 0, 0, 2, 0}},
    Row{Build::upstream, 64, 9, true, kOutput, kFirst, {28, 91, 147, 6, 1, 1, 0, 20, 1, 18, 0}},
    Row{Build::upstream, 64, 9, true, kScores, kSteady, {0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0}},
    Row{Build::upstream, 64, 9, true, kOutput, kSteady, {0, 9, 0, 0, 0, 0, 0, 38, 2, 38, 0}},
    Row{Build::upstream, 64, 9, true, kEpilogue, kSteady, {58, 10, 18, 39, 20, 1, 0, 0, 0, 0, 0}},
    Row{Build::upstream, 128, 9, false, kPrologue, kSteady, {53, 0, 64, 25, 14, 0, 3, 0, 0, 1, 3}},
    Row{Build::upstream, 128, 9, false, kScores, kFirst, {12, 0, 13, 0, 0, 1, 0, 0, 0, 0, 6}},
    Row{Build::upstream, 128, 9, false, kOutput, kFirst, {11, 126, 84, 6, 1, 1, 0, 30, 0, 21, 0}},
    Row{Build::upstream, 128, 9, false, kScores, kSteady, {0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0}},
    Row{Build::upstream, 128, 9, false, kOutput, kSteady, {0, 67, 0, 0, 0, 0, 0, 4, 2, 4, 0}},
    Row{Build::upstream, 128, 9, false, kEpilogue, kSteady, {60, 13, 22, 10, 23, 1, 0, 4, 0, 0, 0}},
    Row{Build::upstream, 128, 9, true, kPrologue, kSteady, {49, 0, 67, 28, 14, 1, 3, 0, 0, 2, 4}},
    Row{Build::upstream, 128, 9, true, kScores, kFirst, {30, 0, 13, 0, 0, 1, 0, 0, 0, 0, 0}},
    Row{Build::upstream, 128, 9, true, kOutput, kFirst, {27, 86, 155, 1, 1, 0, 0, 14, 1, 17, 0}},
    Row{Build::upstream, 128, 9, true, kScores, kMasking, {10, 5, 142, 0, 4, 1, 0, 0, 0, 2, 0}},
    Row{Build::upstream, 128, 9, true, kOutput, kMasking, {1, 91, 2, 4, 0, 1, 0, 16, 4, 14, 1}},
    Row{Build::upstream, 128, 9, true, kScores, kSteady, {0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0}},
    Row{Build::upstream, 128, 9, true, kOutput, kSteady, {0, 65, 0, 0, 0, 0, 0, 4, 2, 4, 0}},
    Row{Build::upstream, 128, 9, true, kEpilogue, kSteady, {49, 10, 16, 39, 20, 1, 0, 4, 0, 0, 0}},
    // PyTorch 2.11
    Row{Build::torch, 32, 9, false, kPrologue, kSteady, {74, 0, 74, 25, 15, 1, 3, 0, 0, 0, 0}},
    Row{Build::torch, 32, 9, false, kOutput, kFirst, {7, 2, 2, 6, 0, 2, 0, 0, 0, 0, 0}},
    Row{Build::torch, 32, 9, false, kEpilogue, kSteady, {56, 10, 38, 14, 17, 1, 0, 0, 0, 0, 0}},
    Row{Build::torch, 32, 9, true, kPrologue, kSteady, {101, 0, 76, 26, 15, 2, 3, 0, 0, 0, 0}},
    Row{Build::torch, 32, 9, true, kOutput, kFirst, {30, 2, 2, 6, 0, 2, 0, 0, 0, 0, 0}},
    Row{Build::torch, 32, 9, true, kEpilogue, kSteady, {35, 11, 27, 43, 13, 1, 0, 0, 0, 0, 0}},
    Row{Build::torch, 64, 9, false, kPrologue, kSteady, {63, 0, 66, 25, 15, 1, 3, 0, 0, 7, 0}},
    Row{Build::torch, 64, 9, false, kOutput, kFirst, {11, 9, 7, 6, 0, 2, 0, 0, 0, 18, 0}},
    Row{Build::torch, 64, 9, false, kOutput, kSteady, {0, 21, 4, 3, 0, 0, 0, 26, 0, 6, 0}},
    Row{Build::torch, 64, 9, false, kEpilogue, kSteady, {63, 10, 47, 14, 18, 1, 0, 5, 0, 0, 0}},
    Row{Build::torch, 64, 9, true, kPrologue, kSteady, {59, 0, 65, 26, 15, 2, 3, 0, 0, 7, 0}},
    Row{Build::torch, 64, 9, true, kOutput, kFirst, {63, 11, 11, 6, 0, 2, 0, 2, 0, 22, 0}},
    Row{Build::torch, 64, 9, true, kOutput, kSteady, {0, 3, 4, 1, 0, 0, 0, 30, 0, 6, 0}},
    Row{Build::torch, 64, 9, true, kEpilogue, kSteady, {54, 9, 37, 43, 16, 1, 0, 5, 0, 0, 0}},
    Row{Build::torch, 96, 9, false, kPrologue, kSteady, {72, 0, 76, 20, 16, 1, 3, 0, 0, 0, 0}},
    Row{Build::torch, 96, 9, false, kOutput, kFirst, {2, 2, 3, 6, 0, 2, 0, 0, 0, 0, 0}},
    Row{Build::torch, 96, 9, false, kEpilogue, kSteady, {48, 10, 38, 14, 17, 1, 0, 0, 0, 0, 0}},
    Row{Build::torch, 96, 9, true, kPrologue, kSteady, {72, 0, 82, 18, 17, 2, 3, 0, 0, 0, 0}},
    Row{Build::torch, 96, 9, true, kOutput, kFirst, {21, 4, 4, 2, 2, 2, 0, 1, 0, 1, 0}},
    Row{Build::torch, 96, 9, true, kOutput, kMasking, {21, 4, 4, 2, 2, 2, 0, 1, 0, 1, 0}},
    Row{Build::torch, 96, 9, true, kEpilogue, kSteady, {33, 9, 26, 43, 13, 1, 0, 0, 0, 0, 0}},
    Row{Build::torch, 128, 9, false, kPrologue, kSteady, {67, 0, 73, 25, 15, 1, 3, 0, 0, 4, 0}},
    Row{Build::torch, 128, 9, false, kOutput, kFirst, {7, 196, 31, 6, 0, 2, 0, 16, 0, 15, 0}},
    Row{Build::torch, 128, 9, false, kOutput, kSteady, {0, 63, 1, 0, 0, 0, 0, 14, 0, 14, 0}},
    Row{Build::torch, 128, 9, false, kEpilogue, kSteady, {53, 10, 47, 14, 18, 1, 0, 8, 0, 0, 0}},
    Row{Build::torch, 128, 9, true, kPrologue, kSteady, {65, 0, 77, 28, 15, 2, 3, 0, 0, 6, 0}},
    Row{Build::torch, 128, 9, true, kOutput, kFirst, {25, 215, 62, 2, 1, 2, 0, 16, 0, 16, 0}},
    Row{Build::torch, 128, 9, true, kOutput, kMasking, {25, 215, 62, 2, 1, 2, 0, 16, 0, 16, 0}},
    Row{Build::torch, 128, 9, true, kOutput, kSteady, {0, 62, 0, 0, 0, 0, 0, 13, 0, 14, 0}},
    Row{Build::torch, 128, 9, true, kEpilogue, kSteady, {43, 9, 37, 43, 16, 1, 0, 8, 0, 0, 0}},
    Row{Build::torch, 192, 9, false, kPrologue, kSteady, {113, 8, 119, 7, 49, 5, 3, 0, 0, 0, 0}},
    Row{Build::torch, 192, 9, false, kOutput, kFirst, {22, 1, 4, 7, 0, 2, 0, 0, 0, 0, 0}},
    Row{Build::torch, 192, 9, false, kEpilogue, kSteady, {67, 11, 54, 15, 24, 7, 0, 0, 0, 0, 0}},
    Row{Build::torch, 192, 9, true, kPrologue, kSteady, {89, 5, 86, 124, 35, 5, 3, 0, 0, 0, 0}},
    Row{Build::torch, 192, 9, true, kOutput, kFirst, {19, 1, 2, 17, 1, 1, 0, 0, 0, 0, 0}},
    Row{Build::torch, 192, 9, true, kOutput, kMasking, {19, 1, 2, 17, 1, 1, 0, 0, 0, 0, 0}},
    Row{Build::torch, 192, 9, true, kEpilogue, kSteady, {66, 10, 51, 26, 22, 7, 0, 0, 0, 0, 0}},
    Row{Build::torch, 256, 9, false, kPrologue, kSteady, {117, 7, 97, 117, 43, 5, 3, 0, 0, 0, 0}},
    Row{Build::torch, 256, 9, false, kOutput, kFirst, {20, 2, 0, 18, 0, 2, 0, 0, 0, 0, 0}},
    Row{Build::torch, 256, 9, false, kOutput, kSteady, {0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0}},
    Row{Build::torch, 256, 9, false, kEpilogue, kSteady, {60, 10, 50, 26, 22, 7, 0, 0, 0, 0, 0}},
    Row{Build::torch, 256, 9, true, kPrologue, kSteady, {124, 7, 98, 126, 43, 5, 3, 0, 0, 4, 0}},
    Row{Build::torch, 256, 9, true, kOutput, kFirst, {20, 2, 0, 18, 0, 2, 0, 0, 0, 0, 0}},
    Row{Build::torch, 256, 9, true, kOutput, kMasking, {34, 340, 120, 22, 4, 1, 0, 6, 0, 1, 0}},
    Row{Build::torch, 256, 9, true, kOutput, kSteady, {0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0}},
    Row{Build::torch, 256, 9, true, kEpilogue, kSteady, {61, 11, 52, 26, 22, 7, 0, 0, 0, 0, 0}},
    // Upstream: of other head dimensions, only what an iteration has in all.
    Row{Build::upstream, 256, 8, false, kOutput, kSteady, {0, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
    Row{Build::upstream, 256, 8, true, kOutput, kSteady, {0, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
    Row{Build::upstream, 256, 9, false, kOutput, kSteady, {0, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
    Row{Build::upstream, 256, 9, true, kOutput, kSteady, {0, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
};
// clang-format on

/// The stack frames of the same code, and of PyTorch's copy: the source compiled as it is there, at 32, 96
/// and 256 from the library (cuobjdump). `even`: no bounds to check.
struct FrameRow {
  Build build;
  int head_dim;
  int capability_major;
  bool causal;
  bool even;
  int bytes;
  int exponentials = 0;  // words of a step that wait there to be packed (reloads.csv)
};

constexpr std::array kFrames = {
    FrameRow{Build::upstream, 64, 8, false, true, 232, 17},
    FrameRow{Build::upstream, 64, 8, false, false, 192},
    FrameRow{Build::upstream, 64, 8, true, true, 216},
    FrameRow{Build::upstream, 64, 8, true, false, 296},
    FrameRow{Build::upstream, 128, 8, false, true, 136},
    FrameRow{Build::upstream, 128, 8, true, true, 176},
    FrameRow{Build::upstream, 64, 9, false, true, 208, 14},
    FrameRow{Build::upstream, 64, 9, false, false, 192},
    FrameRow{Build::upstream, 64, 9, true, true, 200, 17},
    FrameRow{Build::upstream, 64, 9, true, false, 256, 12},
    FrameRow{Build::upstream, 128, 9, false, true, 160},
    FrameRow{Build::upstream, 128, 9, false, false, 96},
    FrameRow{Build::upstream, 128, 9, true, true, 128},
    FrameRow{Build::upstream, 128, 9, true, false, 320},
    FrameRow{Build::torch, 64, 9, false, true, 112},
    FrameRow{Build::torch, 64, 9, false, false, 88},
    FrameRow{Build::torch, 64, 9, true, true, 136},
    FrameRow{Build::torch, 64, 9, true, false, 208},
    FrameRow{Build::torch, 128, 9, false, true, 144},
    FrameRow{Build::torch, 128, 9, false, false, 64},
    FrameRow{Build::torch, 128, 9, true, true, 136},
    FrameRow{Build::torch, 128, 9, true, false, 376},
    FrameRow{Build::torch, 32, 9, false, false, 104},
    FrameRow{Build::torch, 32, 9, true, false, 208},
    FrameRow{Build::torch, 96, 9, false, false, 48},
    FrameRow{Build::torch, 96, 9, true, true, 8},
    FrameRow{Build::torch, 256, 9, true, false, 32},
};

// experiments/reference/machine-code/register_banks.csv: builds with half of their maxima and sums in one
// bank. PyTorch's at 128, and with bounds at 32 and 96, are like these and not here, as README.md there says.
struct BankRow {
  Build build;
  int head_dim;
  bool with_bounds_only = false;
};

constexpr std::array kInOneBank = {
    BankRow{Build::upstream, 32},  BankRow{Build::upstream, 64},  BankRow{Build::upstream, 96, true},
    BankRow{Build::upstream, 128}, BankRow{Build::upstream, 192},
};

}  // namespace

LocalMemory local_memory(Build build, int head_dim, int capability_major, bool causal, bool even) {
  constexpr int kWordBytes = 4;
  // Of another generation, or of even lengths, is closer than none; nothing else is.
  const FrameRow* best = nullptr;
  int best_fit = -1;
  for (const FrameRow& row : kFrames) {
    const int fit = (row.even == even ? 1 : 0) + (row.capability_major == capability_major ? 2 : 0);
    if (row.build == build && row.head_dim == head_dim && row.causal == causal && fit > best_fit) {
      best = &row;
      best_fit = fit;
    }
  }
  return best == nullptr ? LocalMemory{} : LocalMemory{best->bytes / kWordBytes, best->exponentials};
}

bool spreads_over_banks(Build build, int head_dim, bool even) {
  return std::ranges::none_of(kInOneBank, [&](const BankRow& row) {
    return row.build == build && row.head_dim == head_dim && !(row.with_bounds_only && even);
  });
}

std::vector<CountedInstruction> counted_instructions(const FigureCounts& counts) {
  using trace::Opcode;
  std::vector<CountedInstruction> result = {
      {Opcode::MOV, counts.move},     {Opcode::IADD3, counts.integer},   {Opcode::IMAD, counts.multiply},
      {Opcode::UMOV, counts.uniform}, {Opcode::NOP, counts.special},     {Opcode::BRA, counts.branch},
      {Opcode::I2F, counts.convert},  {Opcode::LDL, counts.load},        {Opcode::LDL_64, counts.load_64},
      {Opcode::STL, counts.store},    {Opcode::STL_64, counts.store_64},
  };
  std::erase_if(result, [](const CountedInstruction& counted) { return counted.count == 0; });
  return result;
}

std::span<const FigureRow> figure_rows() {
  return kRows;
}

}  // namespace warpscope::kernels::fa2

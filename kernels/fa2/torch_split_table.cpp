#include "kernels/fa2/torch_split_table.hpp"

#include <array>

namespace warpscope::kernels::fa2 {
namespace {

using Row = TorchSplitRow;

// PyTorch 2.11 on an H200: how often each line of the machine code ran, by part (experiments/reference/
// machine-code/pytorch_split_parts.csv), minus what the trace machine expands for it. What a masked iteration
// has more counts for its output. Iterations of 32 and 64 columns are those of the build that checks bounds
// and has no mask. Columns: integer, move, multiply, uniform, special, branch, convert, load, load_64, store,
// store_64.
// clang-format off
constexpr std::array kRows = {
    Row{32, false, false, kPrologue, kSteady, {221, 15, 165, 8, 61, 7, 6, 0, 0, 0, 0}},
    Row{32, false, false, kOutput, kSteady, {0, 6, 0, 1, 0, 1, 0, 0, 0, 0, 0}},
    Row{32, false, false, kEpilogue, kSteady, {72, 4, 31, 8, 19, 6, 0, 0, 0, 0, 0}},
    Row{32, false, true, kPrologue, kSteady, {133, 4, 93, 19, 25, 4, 6, 0, 0, 0, 0}},
    Row{32, false, true, kOutput, kSteady, {0, 6, 0, 1, 0, 1, 0, 0, 0, 0, 0}},
    Row{32, false, true, kEpilogue, kSteady, {65, 4, 33, 7, 19, 5, 0, 0, 0, 0, 0}},
    Row{32, true, false, kPrologue, kSteady, {220, 15, 163, 7, 63, 7, 6, 0, 0, 0, 0}},
    Row{32, true, false, kOutput, kFirst, {64, 0, 7, 1, 1, 1, 0, 0, 0, 0, 0}},
    Row{32, true, false, kOutput, kMasking, {49, 0, 11, 0, 3, 3, 0, 0, 0, 0, 0}},
    Row{32, true, false, kOutput, kSteady, {0, 6, 0, 1, 0, 1, 0, 0, 0, 0, 0}},
    Row{32, true, false, kEpilogue, kSteady, {73, 4, 33, 7, 19, 6, 0, 0, 0, 0, 0}},
    Row{32, true, false, kNoKeys, kSteady, {77, 4, 19, 4, 28, 4, 4, 0, 0, 0, 0}},
    Row{32, true, true, kPrologue, kSteady, {136, 4, 93, 20, 25, 4, 6, 0, 0, 0, 0}},
    Row{32, true, true, kOutput, kFirst, {71, 2, 0, 3, 0, 2, 0, 0, 0, 0, 0}},
    Row{32, true, true, kOutput, kSteady, {0, 6, 0, 1, 0, 1, 0, 0, 0, 0, 0}},
    Row{32, true, true, kEpilogue, kSteady, {66, 4, 34, 7, 19, 5, 0, 0, 0, 0, 0}},
    Row{32, true, true, kNoKeys, kSteady, {69, 2, 14, 6, 17, 3, 4, 0, 0, 0, 0}},
    Row{64, false, false, kPrologue, kSteady, {219, 25, 191, 188, 93, 7, 6, 0, 0, 0, 0}},
    Row{64, false, false, kOutput, kFirst, {2, 2, 0, 7, 0, 2, 0, 0, 0, 0, 0}},
    Row{64, false, false, kOutput, kSteady, {0, 6, 0, 16, 0, 1, 0, 0, 0, 0, 0}},
    Row{64, false, false, kEpilogue, kSteady, {65, 4, 22, 8, 18, 6, 0, 0, 0, 0, 0}},
    Row{64, false, true, kPrologue, kSteady, {118, 4, 85, 22, 24, 4, 6, 0, 0, 0, 0}},
    Row{64, false, true, kOutput, kSteady, {0, 6, 0, 16, 0, 1, 0, 0, 0, 0, 0}},
    Row{64, false, true, kEpilogue, kSteady, {54, 4, 25, 7, 19, 5, 0, 0, 0, 0, 0}},
    Row{64, true, false, kPrologue, kSteady, {217, 26, 159, 195, 93, 7, 6, 0, 0, 0, 0}},
    Row{64, true, false, kOutput, kFirst, {87, 2, 0, 7, 0, 1, 0, 0, 0, 0, 0}},
    Row{64, true, false, kOutput, kMasking, {63, 7, 23, 11, 3, 3, 0, 1, 0, 1, 0}},
    Row{64, true, false, kOutput, kSteady, {0, 6, 0, 16, 0, 1, 0, 0, 0, 0, 0}},
    Row{64, true, false, kEpilogue, kSteady, {68, 4, 24, 7, 19, 6, 0, 0, 0, 0, 0}},
    Row{64, true, false, kNoKeys, kSteady, {39, 1, 0, 104, 22, 4, 4, 0, 0, 0, 0}},
    Row{64, true, true, kPrologue, kSteady, {108, 4, 84, 23, 24, 4, 6, 0, 0, 0, 0}},
    Row{64, true, true, kOutput, kFirst, {89, 2, 2, 3, 0, 2, 0, 0, 0, 0, 0}},
    Row{64, true, true, kOutput, kSteady, {0, 6, 0, 16, 0, 1, 0, 0, 0, 0, 0}},
    Row{64, true, true, kEpilogue, kSteady, {54, 5, 27, 7, 19, 5, 0, 0, 0, 0, 0}},
    Row{64, true, true, kNoKeys, kSteady, {77, 2, 2, 6, 17, 3, 4, 0, 0, 0, 0}},
    Row{96, false, false, kPrologue, kSteady, {167, 12, 135, 8, 53, 7, 6, 0, 0, 0, 0}},
    Row{96, false, false, kOutput, kFirst, {11, 2, 8, 10, 1, 2, 0, 0, 0, 0, 0}},
    Row{96, false, false, kEpilogue, kSteady, {58, 5, 21, 8, 19, 6, 0, 0, 0, 0, 0}},
    Row{96, false, true, kPrologue, kSteady, {120, 4, 94, 19, 25, 4, 6, 0, 0, 0, 0}},
    Row{96, false, true, kOutput, kFirst, {0, 4, 0, 4, 0, 2, 0, 0, 0, 0, 0}},
    Row{96, false, true, kEpilogue, kSteady, {52, 4, 20, 7, 18, 5, 0, 0, 0, 0, 0}},
    Row{96, true, false, kPrologue, kSteady, {177, 14, 142, 7, 55, 7, 6, 0, 0, 0, 0}},
    Row{96, true, false, kOutput, kFirst, {39, 0, 6, 1, 1, 1, 0, 0, 0, 0, 0}},
    Row{96, true, false, kOutput, kMasking, {38, 1, 8, 8, 0, 3, 0, 0, 0, 0, 0}},
    Row{96, true, false, kEpilogue, kSteady, {56, 4, 19, 7, 18, 6, 0, 0, 0, 0, 0}},
    Row{96, true, false, kNoKeys, kSteady, {56, 4, 0, 4, 28, 4, 4, 0, 0, 0, 0}},
    Row{96, true, true, kPrologue, kSteady, {119, 3, 93, 20, 25, 4, 6, 0, 0, 0, 0}},
    Row{96, true, true, kOutput, kFirst, {44, 4, 3, 7, 0, 2, 0, 0, 0, 0, 0}},
    Row{96, true, true, kEpilogue, kSteady, {48, 4, 21, 7, 18, 5, 0, 0, 0, 0, 0}},
    Row{96, true, true, kNoKeys, kSteady, {43, 2, 0, 6, 17, 3, 4, 0, 0, 0, 0}},
    Row{128, false, false, kPrologue, kSteady, {197, 20, 181, 8, 67, 7, 6, 0, 0, 0, 0}},
    Row{128, false, false, kOutput, kFirst, {14, 2, 7, 10, 1, 2, 0, 0, 0, 0, 0}},
    Row{128, false, false, kEpilogue, kSteady, {62, 4, 17, 8, 18, 6, 0, 0, 0, 0, 0}},
    Row{128, false, true, kPrologue, kSteady, {123, 3, 86, 22, 24, 4, 6, 0, 0, 0, 0}},
    Row{128, false, true, kOutput, kFirst, {0, 4, 0, 6, 0, 2, 0, 0, 0, 0, 0}},
    Row{128, false, true, kEpilogue, kSteady, {51, 6, 16, 7, 19, 5, 0, 0, 0, 0, 0}},
    Row{128, true, false, kPrologue, kSteady, {216, 21, 169, 7, 70, 7, 6, 0, 0, 0, 0}},
    Row{128, true, false, kOutput, kFirst, {45, 0, 8, 1, 1, 1, 0, 0, 0, 0, 0}},
    Row{128, true, false, kOutput, kMasking, {21, 1, 14, 10, 2, 3, 0, 0, 0, 0, 0}},
    Row{128, true, false, kEpilogue, kSteady, {68, 4, 20, 7, 19, 6, 0, 0, 0, 0, 0}},
    Row{128, true, false, kNoKeys, kSteady, {56, 4, 0, 4, 28, 4, 4, 0, 0, 0, 0}},
    Row{128, true, true, kPrologue, kSteady, {123, 5, 88, 23, 24, 4, 6, 0, 0, 0, 0}},
    Row{128, true, true, kOutput, kFirst, {51, 4, 2, 7, 0, 2, 0, 0, 0, 0, 0}},
    Row{128, true, true, kEpilogue, kSteady, {45, 5, 14, 7, 18, 5, 0, 0, 0, 0, 0}},
    Row{128, true, true, kNoKeys, kSteady, {39, 2, 0, 6, 17, 3, 4, 0, 0, 0, 0}},
    Row{192, false, false, kPrologue, kSteady, {170, 16, 147, 8, 59, 7, 6, 0, 0, 0, 0}},
    Row{192, false, false, kOutput, kFirst, {13, 2, 3, 10, 1, 2, 0, 0, 0, 0, 0}},
    Row{192, false, false, kEpilogue, kSteady, {65, 4, 11, 8, 19, 6, 0, 0, 0, 0, 0}},
    Row{192, true, false, kPrologue, kSteady, {175, 16, 146, 7, 62, 7, 6, 0, 0, 0, 0}},
    Row{192, true, false, kOutput, kFirst, {39, 0, 4, 1, 1, 1, 0, 0, 0, 0, 0}},
    Row{192, true, false, kOutput, kMasking, {22, 1, 11, 1, 3, 3, 0, 0, 0, 0, 0}},
    Row{192, true, false, kEpilogue, kSteady, {65, 6, 13, 7, 19, 6, 0, 0, 0, 0, 0}},
    Row{192, true, false, kNoKeys, kSteady, {16, 4, 0, 4, 28, 4, 4, 0, 0, 0, 0}},
    Row{256, false, false, kPrologue, kSteady, {172, 16, 147, 8, 59, 7, 6, 0, 0, 0, 0}},
    Row{256, false, false, kOutput, kFirst, {19, 2, 3, 10, 1, 2, 0, 0, 0, 0, 0}},
    Row{256, false, false, kEpilogue, kSteady, {60, 6, 6, 8, 19, 6, 0, 0, 0, 0, 0}},
    Row{256, true, false, kPrologue, kSteady, {132, 13, 102, 175, 49, 7, 6, 0, 0, 0, 0}},
    Row{256, true, false, kOutput, kFirst, {40, 2, 0, 7, 0, 1, 0, 0, 0, 0, 0}},
    Row{256, true, false, kOutput, kMasking, {24, 233, 26, 21, 2, 3, 0, 6, 0, 6, 0}},
    Row{256, true, false, kEpilogue, kSteady, {64, 6, 6, 7, 19, 6, 0, 0, 0, 0, 0}},
    Row{256, true, false, kNoKeys, kSteady, {0, 1, 0, 24, 22, 4, 4, 0, 0, 0, 0}},
};
// clang-format on

}  // namespace

std::span<const TorchSplitRow> torch_split_rows() {
  return kRows;
}

}  // namespace warpscope::kernels::fa2

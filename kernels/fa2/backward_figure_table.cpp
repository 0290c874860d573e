#include "kernels/fa2/backward_figure_table.hpp"

namespace warpscope::kernels::fa2 {
namespace {

using Row = BackwardFigureRow;
using enum BackwardCase;
using enum BackwardCount;

// All are what was counted minus what the trace machine expands from the source for the same part. Counted:
// - steps of upstream, full and uneven: machine code of the loop (Dao-AILab/flash-attention 0251105a, nvcc
//   13.0, sm_80 and sm_90); causal on sm_90: executed instructions on an H200 (counters.csv, sequence lengths
//   512 and 8192), solved for what one step and one CTA cost; causal on sm_80 was not at hand and has the
//   difference to full that sm_90 has;
// - steps of PyTorch 2.11 and all CTAs with even lengths, at 64 and 128: solved from the same counters;
// - those at other head dimensions: executed instructions (pytorch_backward_parts.csv), of uneven lengths the
//   mean with and without mask;
// - CTAs with uneven lengths, at 64 and 128: solved from counters_edges.csv (1000 tokens at head dimension
//   64; 640 and 16384 at 256), the kinds by their share in the machine code;
// - small kernels: counters.csv and counters_edges.csv, per warp.
// Columns: integer, move, multiply, uniform, special, branch, convert, load, load_64, store, store_64.
// clang-format off
constexpr std::array kRows = {
    Row{Build::upstream, 64, 9, full, step, {0, 0, 42, 18, 1, 0, 0, 2, 0, 0, 0}},
    Row{Build::upstream, 64, 9, causal, step, {0, 0, 64, 20, 0, 0, 0, 0, 0, 0, 0}},
    Row{Build::upstream, 64, 9, uneven, step, {62, 0, 44, 18, 3, 0, 0, 0, 0, 0, 0}},
    Row{Build::upstream, 128, 9, full, step, {0, 0, 25, 19, 0, 0, 0, 0, 0, 0, 0}},
    Row{Build::upstream, 128, 9, causal, step, {0, 0, 40, 18, 0, 0, 0, 0, 0, 0, 0}},
    Row{Build::upstream, 128, 9, uneven, step, {20, 0, 32, 16, 4, 0, 0, 0, 0, 0, 0}},
    Row{Build::upstream, 64, 8, full, step, {0, 0, 70, 13, 4, 0, 0, 9, 0, 0, 0}},
    Row{Build::upstream, 64, 8, causal, step, {0, 0, 92, 15, 3, 0, 0, 7, 0, 0, 0}},
    Row{Build::upstream, 64, 8, uneven, step, {56, 0, 77, 12, 0, 0, 0, 9, 0, 0, 0}},
    Row{Build::upstream, 128, 8, full, step, {0, 0, 40, 12, 2, 0, 0, 6, 0, 0, 0}},
    Row{Build::upstream, 128, 8, causal, step, {0, 0, 55, 11, 2, 0, 0, 6, 0, 0, 0}},
    Row{Build::upstream, 128, 8, uneven, step, {23, 0, 49, 13, 0, 0, 0, 6, 0, 0, 0}},
    Row{Build::torch, 64, 9, full, step, {6, 0, 44, 18, 3, 0, 0, 4, 0, 0, 0}},
    Row{Build::torch, 64, 9, causal, step, {19, 0, 44, 20, 1, 0, 0, 0, 0, 0, 0}},
    Row{Build::torch, 128, 9, full, step, {0, 0, 25, 19, 0, 0, 0, 0, 0, 0, 0}},
    Row{Build::torch, 128, 9, causal, step, {9, 0, 28, 18, 3, 0, 0, 0, 0, 0, 0}},
    Row{Build::torch, 32, 9, full, step, {0, 0, 25, 15, 4, 0, 0, 0, 0, 0, 0}},
    Row{Build::torch, 32, 9, causal, step, {17, 2, 27, 18, 4, 0, 0, 0, 0, 0, 0}},
    Row{Build::torch, 32, 9, uneven, step, {37, 7, 28, 18, 4, 0, 0, 0, 0, 0, 0}},
    Row{Build::torch, 96, 9, full, step, {0, 1, 27, 16, 3, 0, 0, 5, 0, 0, 0}},
    Row{Build::torch, 96, 9, causal, step, {0, 7, 36, 18, 3, 0, 0, 6, 0, 0, 0}},
    Row{Build::torch, 96, 9, uneven, step, {9, 6, 33, 18, 2, 0, 0, 6, 0, 0, 0}},
    Row{Build::torch, 192, 9, full, step, {0, 0, 26, 4, 4, 0, 0, 0, 0, 0, 0}},
    Row{Build::torch, 192, 9, causal, step, {8, 0, 33, 4, 4, 0, 0, 0, 0, 0, 0}},
    Row{Build::torch, 192, 9, uneven, step, {4, 0, 30, 4, 4, 0, 0, 0, 0, 0, 0}},
    Row{Build::torch, 256, 9, full, step, {10, 2, 43, 19, 4, 0, 0, 1, 0, 0, 0}},
    Row{Build::torch, 256, 9, causal, step, {0, 2, 34, 23, 4, 0, 0, 0, 0, 0, 0}},
    Row{Build::torch, 256, 9, uneven, step, {5, 2, 39, 21, 4, 0, 0, 1, 0, 0, 0}},
    Row{Build::upstream, 64, 9, full, cta, {153, 0, 157, 87, 73, 0, 3, 14, 0, 16, 0}},
    Row{Build::upstream, 64, 9, causal, cta, {161, 0, 164, 106, 74, 0, 3, 13, 0, 13, 0}},
    Row{Build::upstream, 64, 9, uneven, cta, {330, 0, 240, 120, 47, 0, 3, 0, 0, 0, 0}},
    Row{Build::upstream, 128, 9, full, cta, {144, 0, 153, 83, 70, 0, 3, 1, 0, 1, 0}},
    Row{Build::upstream, 128, 9, causal, cta, {149, 0, 159, 102, 72, 0, 3, 3, 0, 3, 0}},
    Row{Build::upstream, 128, 9, uneven, cta, {380, 0, 280, 140, 67, 0, 3, 0, 0, 0, 0}},
    Row{Build::torch, 64, 9, full, cta, {147, 0, 150, 88, 74, 0, 3, 15, 0, 19, 0}},
    Row{Build::torch, 64, 9, causal, cta, {162, 0, 159, 107, 74, 0, 3, 12, 0, 12, 0}},
    Row{Build::torch, 128, 9, full, cta, {145, 0, 149, 84, 71, 0, 3, 2, 0, 2, 0}},
    Row{Build::torch, 128, 9, causal, cta, {150, 0, 155, 103, 72, 0, 3, 3, 0, 3, 0}},
    Row{Build::torch, 32, 9, full, cta, {171, 2, 136, 123, 38, 5, 2, 0, 0, 0, 0}},
    Row{Build::torch, 32, 9, causal, cta, {166, 2, 140, 147, 38, 5, 2, 0, 0, 0, 0}},
    Row{Build::torch, 32, 9, uneven, cta, {229, 9, 150, 305, 32, 14, 2, 0, 0, 0, 0}},
    Row{Build::torch, 96, 9, full, cta, {154, 2, 143, 129, 40, 5, 2, 6, 0, 8, 0}},
    Row{Build::torch, 96, 9, causal, cta, {146, 2, 144, 152, 38, 5, 2, 7, 0, 12, 0}},
    Row{Build::torch, 96, 9, uneven, cta, {223, 8, 144, 303, 34, 14, 2, 9, 0, 13, 0}},
    Row{Build::torch, 192, 9, full, cta, {273, 14, 220, 30, 61, 14, 2, 0, 0, 0, 0}},
    Row{Build::torch, 192, 9, causal, cta, {286, 12, 216, 31, 61, 13, 2, 0, 0, 0, 0}},
    Row{Build::torch, 192, 9, uneven, cta, {280, 13, 218, 30, 61, 13, 2, 0, 0, 0, 0}},
    Row{Build::torch, 256, 9, full, cta, {196, 8, 142, 285, 37, 16, 2, 2, 0, 2, 0}},
    Row{Build::torch, 256, 9, causal, cta, {199, 10, 142, 288, 38, 15, 2, 0, 0, 0, 0}},
    Row{Build::torch, 256, 9, uneven, cta, {198, 9, 142, 287, 38, 15, 2, 1, 0, 1, 0}},
    Row{Build::upstream, 32, 9, full, row_products, {83, 0, 46, 0, 31, 4, 0, 0, 0, 0, 0}},
    Row{Build::upstream, 64, 9, full, row_products, {114, 0, 54, 0, 35, 4, 0, 0, 0, 0, 0}},
    Row{Build::upstream, 96, 9, full, row_products, {85, 0, 34, 0, 35, 8, 0, 0, 0, 0, 0}},
    Row{Build::upstream, 128, 9, full, row_products, {107, 0, 40, 0, 42, 12, 0, 0, 0, 0, 0}},
    Row{Build::upstream, 192, 9, full, row_products, {123, 0, 32, 0, 42, 12, 0, 0, 0, 0, 0}},
    Row{Build::upstream, 256, 9, full, row_products, {146, 0, 24, 0, 42, 12, 0, 0, 0, 0, 0}},
    Row{Build::torch, 64, 9, full, row_products, {107, 0, 49, 3, 34, 2, 0, 0, 0, 0, 0}},
    Row{Build::torch, 128, 9, full, row_products, {99, 0, 35, 3, 41, 10, 0, 0, 0, 0, 0}},
    Row{Build::upstream, 32, 9, full, convert, {111, 0, 60, 1, 30, 8, 0, 0, 0, 0, 0}},
    Row{Build::upstream, 64, 9, full, convert, {120, 0, 97, 5, 37, 11, 0, 0, 0, 0, 0}},
    Row{Build::upstream, 96, 9, full, convert, {80, 0, 61, 80, 33, 6, 0, 0, 0, 0, 0}},
    Row{Build::upstream, 128, 9, full, convert, {109, 0, 84, 5, 31, 8, 0, 0, 0, 0, 0}},
    Row{Build::upstream, 192, 9, full, convert, {115, 0, 77, 5, 31, 8, 0, 0, 0, 0, 0}},
    Row{Build::upstream, 256, 9, full, convert, {117, 0, 67, 6, 33, 8, 0, 0, 0, 0, 0}},
    Row{Build::torch, 64, 9, full, convert, {99, 0, 74, 32, 37, 10, 0, 0, 0, 0, 0}},
    Row{Build::torch, 128, 9, full, convert, {78, 0, 52, 32, 33, 7, 0, 0, 0, 0, 0}},
};
// clang-format on

}  // namespace

std::span<const BackwardFigureRow> backward_figure_rows() {
  return kRows;
}

}  // namespace warpscope::kernels::fa2

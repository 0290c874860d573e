#include "kernels/triton/figure_table.hpp"

#include <algorithm>
#include <array>

namespace warpscope::kernels::triton {
namespace {

// Counted in the machine code (nvcc 13.0.88, sm_80 and sm_90) of CUDA programs that do what the code
// generator of Triton's commit emits, operation by operation (experiments/reference/machine-code), less what
// the trace machine expands from the text. Triton's own code was not at hand; that of its PTX compiler of
// 2023 may keep other values in local memory. Columns: integer, move, multiply, scale, uniform, special, dead
// load, load, load 64, store, store 64.
// clang-format off
constexpr std::array kRows = {
    FigureRow{Text::forward, 64, 8, Stretch::step, {86, 48, 4, 16, 14, 13, 3, 40, 2, 20, 2}},
    FigureRow{Text::forward, 64, 8, Stretch::rest, {198, 17, 48, 1, 23, 8, 3, 7, 1, 39, 1}},
    FigureRow{Text::forward, 64, 9, Stretch::step, {86, 24, 2, 16, 7, 18, 3, 50, 0, 30, 0}},
    FigureRow{Text::forward, 64, 9, Stretch::rest, {217, 16, 44, 1, 34, 11, 3, 4, 0, 36, 0}},
    FigureRow{Text::forward, 128, 8, Stretch::step, {61, 0, 5, 8, 7, 0, 3, 0, 0, 0, 0}},
    FigureRow{Text::forward, 128, 8, Stretch::rest, {171, 16, 62, 1, 21, 3, 3, 0, 0, 0, 0}},
    FigureRow{Text::forward, 128, 9, Stretch::step, {61, 0, 4, 8, 7, 1, 3, 0, 0, 0, 0}},
    FigureRow{Text::forward, 128, 9, Stretch::rest, {184, 11, 64, 1, 29, 8, 3, 0, 0, 0, 0}},
    FigureRow{Text::forward_masked, 64, 8, Stretch::step, {88, 0, 18, 16, 8, 5, 3, 29, 0, 4, 0}},
    FigureRow{Text::forward_masked, 64, 8, Stretch::rest, {160, 0, 123, 1, 25, 7, 3, 2, 1, 31, 1}},
    FigureRow{Text::forward_masked, 64, 9, Stretch::step, {88, 0, 18, 16, 7, 8, 3, 29, 0, 4, 0}},
    FigureRow{Text::forward_masked, 64, 9, Stretch::rest, {176, 2, 120, 1, 36, 10, 3, 0, 0, 29, 0}},
    FigureRow{Text::forward_masked, 128, 8, Stretch::step, {77, 0, 19, 8, 6, 0, 3, 0, 0, 0, 0}},
    FigureRow{Text::forward_masked, 128, 8, Stretch::rest, {146, 0, 115, 1, 23, 3, 3, 0, 0, 0, 0}},
    FigureRow{Text::forward_masked, 128, 9, Stretch::step, {80, 0, 18, 8, 7, 1, 3, 0, 0, 0, 0}},
    FigureRow{Text::forward_masked, 128, 9, Stretch::rest, {169, 3, 107, 1, 31, 8, 3, 0, 0, 0, 0}},
    FigureRow{Text::parallel, 64, 8, Stretch::step, {33, 47, 52, 0, 2, 3, 0, 29, 0, 0, 0}},
    FigureRow{Text::parallel, 64, 8, Stretch::rest, {187, 4, 75, 0, 6, 4, 0, 2, 0, 31, 0}},
    FigureRow{Text::parallel, 64, 9, Stretch::step, {63, 5, 58, 1, 4, 11, 0, 12, 0, 0, 0}},
    FigureRow{Text::parallel, 64, 9, Stretch::rest, {171, 2, 73, 0, 13, 11, 0, 2, 0, 14, 0}},
    FigureRow{Text::parallel, 128, 8, Stretch::step, {45, 37, 92, 1, 2, 3, 0, 132, 26, 86, 26}},
    FigureRow{Text::parallel, 128, 8, Stretch::rest, {260, 5, 158, 0, 6, 5, 0, 20, 1, 107, 1}},
    FigureRow{Text::parallel, 128, 9, Stretch::step, {72, 0, 115, 1, 4, 12, 0, 145, 24, 101, 24}},
    FigureRow{Text::parallel, 128, 9, Stretch::rest, {254, 2, 165, 0, 13, 13, 0, 16, 1, 103, 1}},
    FigureRow{Text::parallel_masked, 64, 8, Stretch::step, {63, 13, 102, 0, 4, 5, 0, 28, 0, 0, 0}},
    FigureRow{Text::parallel_masked, 64, 8, Stretch::rest, {147, 0, 105, 0, 6, 4, 0, 2, 0, 30, 0}},
    FigureRow{Text::parallel_masked, 64, 9, Stretch::step, {91, 1, 77, 1, 4, 11, 0, 17, 0, 0, 0}},
    FigureRow{Text::parallel_masked, 64, 9, Stretch::rest, {161, 2, 78, 0, 17, 11, 0, 2, 0, 19, 0}},
    FigureRow{Text::parallel_masked, 128, 8, Stretch::step, {67, 2, 135, 1, 2, 3, 0, 137, 26, 91, 26}},
    FigureRow{Text::parallel_masked, 128, 8, Stretch::rest, {227, 0, 194, 0, 6, 5, 0, 20, 1, 110, 1}},
    FigureRow{Text::parallel_masked, 128, 9, Stretch::step, {96, 0, 153, 1, 8, 8, 0, 123, 28, 82, 28}},
    FigureRow{Text::parallel_masked, 128, 9, Stretch::rest, {264, 0, 174, 0, 27, 7, 0, 24, 1, 111, 1}},
    FigureRow{Text::serial, 64, 8, Stretch::step, {27, 50, 50, 1, 6, 4, 0, 24, 0, 4, 0}},
    FigureRow{Text::serial, 64, 8, Stretch::rest, {27, 0, 17, 0, 1, 2, 0, 19, 2, 1, 0}},
    FigureRow{Text::serial, 64, 9, Stretch::step, {54, 26, 64, 1, 1, 10, 0, 23, 0, 7, 0}},
    FigureRow{Text::serial, 64, 9, Stretch::rest, {33, 0, 22, 0, 11, 4, 0, 19, 2, 1, 0}},
    FigureRow{Text::serial, 128, 8, Stretch::step, {57, 24, 106, 1, 7, 5, 0, 129, 48, 78, 48}},
    FigureRow{Text::serial, 128, 8, Stretch::rest, {89, 0, 48, 0, 1, 5, 0, 76, 2, 66, 0}},
    FigureRow{Text::serial, 128, 9, Stretch::step, {75, 17, 119, 1, 1, 10, 0, 141, 46, 92, 46}},
    FigureRow{Text::serial, 128, 9, Stretch::rest, {80, 0, 53, 0, 11, 5, 0, 70, 2, 64, 0}},
    FigureRow{Text::serial_masked, 64, 8, Stretch::step, {60, 9, 97, 0, 4, 7, 0, 29, 0, 8, 0}},
    FigureRow{Text::serial_masked, 64, 8, Stretch::rest, {46, 0, 25, 0, 5, 2, 0, 3, 2, 2, 0}},
    FigureRow{Text::serial_masked, 64, 9, Stretch::step, {70, 11, 103, 0, 6, 9, 0, 24, 0, 8, 0}},
    FigureRow{Text::serial_masked, 64, 9, Stretch::rest, {53, 1, 39, 0, 19, 3, 0, 2, 3, 0, 0}},
    FigureRow{Text::serial_masked, 128, 8, Stretch::step, {89, 0, 136, 0, 15, 5, 0, 129, 52, 86, 52}},
    FigureRow{Text::serial_masked, 128, 8, Stretch::rest, {112, 0, 63, 0, 5, 4, 0, 52, 2, 74, 0}},
    FigureRow{Text::serial_masked, 128, 9, Stretch::step, {97, 2, 141, 1, 5, 12, 0, 137, 52, 93, 52}},
    FigureRow{Text::serial_masked, 128, 9, Stretch::rest, {118, 0, 71, 0, 24, 7, 0, 52, 3, 74, 0}},
};
// clang-format on

struct Spilled {
  Text text;
  int head_dim;
  int words_sm80;
  int words_sm90;
};

// The stack frames of the same code; forward at head dimension 128 has none.
constexpr std::array kSpilled = {
    Spilled{Text::forward, 64, 50, 50},     Spilled{Text::forward_masked, 64, 34, 30},
    Spilled{Text::serial, 64, 46, 42},      Spilled{Text::serial_masked, 64, 36, 28},
    Spilled{Text::parallel, 64, 32, 14},    Spilled{Text::parallel_masked, 64, 30, 20},
    Spilled{Text::serial, 128, 264, 270},   Spilled{Text::serial_masked, 128, 244, 246},
    Spilled{Text::parallel, 128, 182, 188}, Spilled{Text::parallel_masked, 128, 188, 176},
};

}  // namespace

std::span<const FigureRow> figure_rows() {
  return kRows;
}

int spilled_words(Text text, int head_dim, int capability_major) {
  const auto found = std::ranges::find_if(
      kSpilled, [&](const Spilled& row) { return row.text == text && row.head_dim == head_dim; });
  return found == kSpilled.end() ? 0 : capability_major >= 9 ? found->words_sm90 : found->words_sm80;
}

std::vector<CountedInstruction> counted_instructions(const FigureCounts& counts) {
  using trace::Opcode;
  std::vector<CountedInstruction> result = {
      {Opcode::IADD3, counts.integer},    {Opcode::MOV, counts.move},       {Opcode::IMAD, counts.multiply},
      {Opcode::FMUL, counts.scale},       {Opcode::UIADD3, counts.uniform}, {Opcode::NOP, counts.special},
      {Opcode::LDS_32, counts.dead_load}, {Opcode::LDL, counts.load},       {Opcode::LDL_64, counts.load_64},
      {Opcode::STL, counts.store},        {Opcode::STL_64, counts.store_64}};
  std::erase_if(result, [](const CountedInstruction& counted) { return counted.count == 0; });
  return result;
}

}  // namespace warpscope::kernels::triton

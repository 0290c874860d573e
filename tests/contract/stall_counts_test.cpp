// Stall counts of FlashAttention-2's main loops against those of machine code
// (experiments/reference/machine-code/stall_counts.csv, pytorch_stall_counts.csv).
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "experiments/csv/csv.hpp"
#include "kernels/kernel.hpp"
#include "tests/support/gpu_limits.hpp"

namespace warpscope::tests {
namespace {

struct Row {
  const kernels::GpuLimits* limits;
  std::int64_t head_dim;
  bool causal;
  bool even_lengths;
  int instructions;  ///< of the loop in machine code
  double mean_stall;
};

const Row kRows[] = {
    Row{&kA100, 32, false, false, 851, 2.788},  Row{&kA100, 32, false, true, 847, 2.789},
    Row{&kA100, 64, false, false, 1304, 2.597}, Row{&kA100, 64, false, true, 1146, 3.092},
    Row{&kA100, 64, true, false, 1149, 2.941},  Row{&kA100, 64, true, true, 1128, 2.887},
    Row{&kA100, 96, false, false, 709, 3.121},  Row{&kA100, 96, false, true, 709, 2.976},
    Row{&kA100, 128, false, false, 897, 3.166}, Row{&kA100, 128, false, true, 910, 3.103},
    Row{&kA100, 128, true, false, 900, 3.164},  Row{&kA100, 128, true, true, 883, 3.182},
    Row{&kA100, 256, false, false, 740, 3.359}, Row{&kH200, 32, false, false, 850, 2.546},
    Row{&kH200, 32, false, true, 850, 2.542},   Row{&kH200, 64, false, false, 1288, 2.436},
    Row{&kH200, 64, false, true, 1137, 2.836},  Row{&kH200, 64, true, false, 1141, 2.777},
    Row{&kH200, 64, true, true, 1143, 2.858},   Row{&kH200, 96, false, false, 709, 2.642},
    Row{&kH200, 96, false, true, 711, 2.553},   Row{&kH200, 128, false, false, 906, 2.641},
    Row{&kH200, 128, false, true, 908, 2.519},  Row{&kH200, 128, true, false, 901, 2.646},
    Row{&kH200, 128, true, true, 905, 2.52},    Row{&kH200, 256, false, false, 742, 2.753},
};

/// Mean stall count of the loop whose number of instructions is nearest to the row's.
double mean_stall(const char* kernel, const Row& row) {
  const std::int64_t tokens = row.even_lengths ? 2048 : 2000;
  const kernels::Problem problem{1, 4, 4, tokens, tokens, row.head_dim, row.causal};
  const trace::Trace built = kernels::find_kernel(kernel).build(problem, *row.limits);
  int nearest = 0;
  double mean = 0;
  for (const trace::WarpProgram& program : built.launches[0].programs) {
    for (const trace::Loop& loop : program.loops) {
      const int count = static_cast<int>(loop.end) - static_cast<int>(loop.begin);
      if (std::abs(count - row.instructions) >= std::abs(nearest - row.instructions)) {
        continue;
      }
      double sum = 0;
      for (std::size_t i = loop.begin; i < loop.end; ++i) {
        sum += program.code[i].control.stall_cycles;
      }
      nearest = count;
      mean = sum / count;
    }
  }
  EXPECT_NEAR(nearest, row.instructions, 0.15 * row.instructions);
  return mean;
}

// No time and no stall count chose a rule of the scheduler. At d 64 machine code for both targets spills and
// sums its rows at the end of a step, the model's does so among the products.
TEST(StallCounts, AreNearMachineCode) {
  double sum = 0;
  int rows = 0;
  for (const Row& row : kRows) {
    const double error = std::abs(mean_stall("fa2", row) / row.mean_stall - 1);
    EXPECT_LT(error, row.head_dim == 64 ? 0.18 : 0.08) << "d " << row.head_dim << " causal " << row.causal;
    sum += row.head_dim == 64 ? 0 : error;
    rows += row.head_dim == 64 ? 0 : 1;
  }
  EXPECT_EQ(rows, 18);
  EXPECT_LT(sum / rows, 0.05);
  RecordProperty("mean", std::to_string(sum / rows));
}

TEST(StallCounts, OfPyTorchAreNearMachineCode) {
  const experiments::CsvTable table = experiments::read_csv(
      WARPSCOPE_SOURCE_DIR "/experiments/reference/machine-code/pytorch_stall_counts.csv");
  const auto field = [&](const experiments::CsvRecord& row, const char* column) {
    return row.fields.at(table.column(column));
  };
  double sum = 0;
  for (const experiments::CsvRecord& record : table.rows) {
    const Row row{&kH200,
                  std::stoi(field(record, "head_dim")),
                  field(record, "causal") == "1",
                  field(record, "even_lengths") == "1",
                  std::stoi(field(record, "loop_instructions")),
                  std::stod(field(record, "mean_stall"))};
    const double error = std::abs(mean_stall("fa2_torch", row) / row.mean_stall - 1);
    EXPECT_LT(error, 0.12) << "d " << row.head_dim << " causal " << row.causal;
    sum += error;
  }
  ASSERT_EQ(table.rows.size(), 20U);
  EXPECT_LT(sum / 20, 0.05);
}

}  // namespace
}  // namespace warpscope::tests

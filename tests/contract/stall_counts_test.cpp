// Stall counts of FlashAttention-2's main loops against those of machine code
// (experiments/reference/machine-code/stall_counts.csv, pytorch_stall_counts.csv).
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

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

/// The loops that a table lists; without a column `target` all are for sm_90.
std::vector<Row> rows_of(const std::string& file) {
  const experiments::CsvTable table =
      experiments::read_csv(WARPSCOPE_SOURCE_DIR "/experiments/reference/machine-code/" + file);
  std::vector<Row> rows;
  for (const experiments::CsvRecord& record : table.rows) {
    const auto field = [&](const char* column) { return record.fields.at(table.column(column)); };
    const bool ampere =
        table.column("target") != experiments::CsvTable::kNoColumn && field("target") == "sm_80";
    rows.push_back({ampere ? &kA100 : &kH200, std::stoi(field("head_dim")), field("causal") == "1",
                    field("even_lengths") == "1", std::stoi(field("loop_instructions")),
                    std::stod(field("mean_stall"))});
  }
  return rows;
}

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

// These rows and those of PyTorch chose how many registers are kept free for the next products.
TEST(StallCounts, AreNearMachineCode) {
  double sum = 0;
  int rows = 0;
  for (const Row& row : rows_of("stall_counts.csv")) {
    const double error = std::abs(mean_stall("fa2", row) / row.mean_stall - 1);
    EXPECT_LT(error, 0.095) << "d " << row.head_dim << " causal " << row.causal;
    sum += error;
    ++rows;
  }
  ASSERT_EQ(rows, 26);
  EXPECT_LT(sum / rows, 0.04);
  RecordProperty("mean", std::to_string(sum / rows));
}

/// How far PyTorch's loops for a GPU are off in the mean.
double mean_error_of_pytorch(const kernels::GpuLimits& limits, int rows) {
  double sum = 0;
  int found = 0;
  for (const Row& row : rows_of("pytorch_stall_counts.csv")) {
    if (row.limits == &limits) {
      const double error = std::abs(mean_stall("fa2_torch", row) / row.mean_stall - 1);
      EXPECT_LT(error, 0.12) << "d " << row.head_dim << " causal " << row.causal;
      sum += error;
      ++found;
    }
  }
  EXPECT_EQ(found, rows);
  return sum / rows;
}

TEST(StallCounts, OfPyTorchAreNearMachineCode) {
  const double hopper = mean_error_of_pytorch(kH200, 20);
  const double ampere = mean_error_of_pytorch(kA100, 10);
  EXPECT_LT(hopper, 0.05);
  EXPECT_LT(ampere, 0.05);
  RecordProperty("hopper", std::to_string(hopper));
  RecordProperty("ampere", std::to_string(ampere));
}

}  // namespace
}  // namespace warpscope::tests

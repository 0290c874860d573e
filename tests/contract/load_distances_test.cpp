// How far ahead of their products FlashAttention-2's main loops load matrices, against PyTorch's machine code
// (experiments/reference/machine-code/pytorch_load_distances.csv).
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "experiments/csv/csv.hpp"
#include "kernels/kernel.hpp"
#include "tests/support/gpu_limits.hpp"

namespace warpscope::tests {
namespace {

using trace::Instruction;
using trace::Opcode;

/// HMMAs between each load of the loop and the first that reads it, without loads that none of them reads.
struct Distances {
  std::vector<int> keys;
  std::vector<int> values;
};

Distances distances(const trace::WarpProgram& program, const trace::Loop& loop) {
  struct Load {
    int hmmas_before;
    bool transposed;
  };
  std::map<int, Load> waiting;  // by first register
  Distances result;
  int hmmas = 0;
  for (std::size_t i = loop.begin; i < loop.end; ++i) {
    const Instruction& instruction = program.code[i];
    if (instruction.opcode == Opcode::LDSM_X4 || instruction.opcode == Opcode::LDSM_T_X4) {
      waiting[instruction.destination.first] = {hmmas, instruction.opcode == Opcode::LDSM_T_X4};
    } else if (instruction.opcode == Opcode::HMMA_16816_F32) {
      for (const int factor : {0, 1}) {
        // A load brings one first factor, or two second ones.
        const int first = instruction.sources[static_cast<std::size_t>(factor)].first;
        for (const int begin : {first, first - 2}) {
          const auto load = waiting.find(begin);
          if (load != waiting.end()) {
            (load->second.transposed ? result.values : result.keys)
                .push_back(hmmas - load->second.hmmas_before);
            waiting.erase(load);
          }
        }
      }
      ++hmmas;
    }
  }
  return result;
}

/// Of the last loop with the most HMMAs.
Distances of_main_loop(std::int64_t head_dim, bool causal, bool even_lengths) {
  const std::int64_t tokens = even_lengths ? 2048 : 2049;
  const kernels::Problem problem{1, 8, 8, tokens, tokens, head_dim, causal};
  const trace::Trace built = kernels::find_kernel("fa2_torch").build(problem, kH200);
  Distances most;
  for (const trace::WarpProgram& program : built.launches[0].programs) {
    for (const trace::Loop& loop : program.loops) {
      Distances found = distances(program, loop);
      if (found.keys.size() + found.values.size() >= most.keys.size() + most.values.size()) {
        most = std::move(found);
      }
    }
  }
  return most;
}

double mean(const std::vector<int>& numbers) {
  double sum = 0;
  for (const int number : numbers) {
    sum += number;
  }
  return sum / static_cast<double>(numbers.size());
}

TEST(LoadDistances, AreNearMachineCode) {
  const experiments::CsvTable table = experiments::read_csv(
      WARPSCOPE_SOURCE_DIR "/experiments/reference/machine-code/pytorch_load_distances.csv");
  std::map<std::string, std::vector<double>> errors;  // by product
  for (std::size_t i = 0; i + 1 < table.rows.size(); i += 2) {
    const auto field = [&](std::size_t row, const char* column) {
      return table.rows[row].fields.at(table.column(column));
    };
    const Distances ours = of_main_loop(std::stoi(field(i, "head_dim")), field(i, "causal") == "1",
                                        field(i, "even_lengths") == "1");
    // Of tiles that the library keeps for other GPUs there is nothing to compare.
    if (ours.keys.size() == std::stoul(field(i, "loads")) &&
        ours.values.size() == std::stoul(field(i + 1, "loads"))) {
      errors["qk"].push_back(mean(ours.keys) / std::stod(field(i, "mean_hmmas_ahead")) - 1);
      errors["pv"].push_back(mean(ours.values) / std::stod(field(i + 1, "mean_hmmas_ahead")) - 1);
    }
  }
  for (const auto& [product, of_product] : errors) {
    double sum = 0;
    for (const double error : of_product) {
      sum += std::abs(error);
    }
    EXPECT_GE(of_product.size(), 20U) << product;
    EXPECT_LT(sum / static_cast<double>(of_product.size()), 0.3) << product;
    RecordProperty(product, std::to_string(sum / static_cast<double>(of_product.size())));
  }
  EXPECT_EQ(errors.size(), 2U);
}

}  // namespace
}  // namespace warpscope::tests

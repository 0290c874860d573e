// How far ahead of their products FlashAttention-2's main loops load matrices, against PyTorch's machine code
// (experiments/reference/machine-code/pytorch_load_distances.csv).
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "experiments/csv/csv.hpp"
#include "tests/support/main_loop.hpp"

namespace warpscope::tests {
namespace {

using trace::Instruction;
using trace::Opcode;

/// HMMAs between each load of the loop and the first that reads it, without loads that none of them reads.
struct Distances {
  std::vector<int> keys;
  std::vector<int> values;
};

Distances distances(const std::vector<Instruction>& loop) {
  struct Load {
    int hmmas_before;
    bool transposed;
  };
  std::map<int, Load> waiting;  // by first register
  Distances result;
  int hmmas = 0;
  for (const Instruction& instruction : loop) {
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
    const std::int64_t tokens = field(i, "even_lengths") == "1" ? 2048 : 2049;
    const Distances ours =
        distances(main_loop(std::stoi(field(i, "head_dim")), field(i, "causal") == "1", tokens));
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

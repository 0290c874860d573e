// Where FlashAttention-2's backward loop hides scores, and which reductions wait for one another, against
// PyTorch's machine code (experiments/reference/machine-code).
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "experiments/csv/csv.hpp"
#include "tests/support/main_loop.hpp"

namespace warpscope::tests {
namespace {

using trace::Instruction;
using trace::Opcode;

/// A row of machine code, and the model's loop for the same build.
struct BuildRow {
  const experiments::CsvTable& table;
  const experiments::CsvRecord& record;

  double number(const char* column) const { return std::stod(record.fields.at(table.column(column))); }
  std::vector<Instruction> loop() const {
    const auto head_dim = static_cast<std::int64_t>(number("head_dim"));
    constexpr std::int64_t kFewer = 8;  // columns than the tile has
    return main_loop(number("whole_head_dim") != 0 ? head_dim : head_dim - kFewer, number("causal") != 0,
                     number("whole_lengths") != 0 ? 4096 : 4000, "fa2_torch", kH200, kernels::Pass::backward);
  }
};

template <typename Use>
void for_each_build(const char* file, const Use& use) {
  const experiments::CsvTable table =
      experiments::read_csv(std::string(WARPSCOPE_SOURCE_DIR "/experiments/reference/machine-code/") + file);
  for (const experiments::CsvRecord& record : table.rows) {
    SCOPED_TRACE(record.line);
    use(BuildRow{table, record});
  }
}

struct Masks {
  int selects = 0;
  int exponentials_before_last = 0;
};

/// Selects under what a comparison of integers says.
Masks masks_of(const std::vector<Instruction>& loop) {
  std::map<int, Opcode> written_by;  // by predicate
  Masks masks;
  int exponentials = 0;
  for (const Instruction& instruction : loop) {
    if (instruction.opcode == Opcode::FSEL && written_by[instruction.sources[1].first] == Opcode::ISETP) {
      ++masks.selects;
      masks.exponentials_before_last = exponentials;
    }
    exponentials += instruction.opcode == Opcode::MUFU_EX2 ? 1 : 0;
    if (instruction.destination.first >= trace::kFirstPredicate) {
      written_by[instruction.destination.first] = instruction.opcode;
    }
  }
  return masks;
}

TEST(Fa2BackwardOrder, MasksComeBeforeExponentials) {
  int rows = 0;
  for_each_build("pytorch_backward_masks.csv", [&](const BuildRow& row) {
    const Masks masks = masks_of(row.loop());
    EXPECT_EQ(masks.selects, row.number("selects"));
    EXPECT_LE(masks.exponentials_before_last, 4) << "machine code has " << row.number("before_last_select");
    ++rows;
  });
  EXPECT_EQ(rows, 28);
}

// In the model each reduction waits for the one so many before as there are addresses; in machine code some
// wait for one that came two or three before, and the others for none.
TEST(Fa2BackwardOrder, ReductionsWaitForOneAnotherAsInMachineCode) {
  std::map<int, std::vector<double>> measured;
  std::map<int, std::size_t> ours;
  for_each_build("pytorch_reduction_waits.csv", [&](const BuildRow& row) {
    const int head_dim = static_cast<int>(row.number("head_dim"));
    if (row.number("whole_head_dim") == 0 || head_dim == 32) {
      return;  // with 32 columns builds with bounds wait for none
    }
    std::set<int> addresses;
    int reductions = 0;
    for (const Instruction& instruction : row.loop()) {
      if (instruction.opcode == Opcode::RED_ADD_F32) {
        addresses.insert(instruction.sources[1].first);
        ++reductions;
      }
    }
    EXPECT_EQ(reductions, row.number("reductions"));
    ours[head_dim] = addresses.size();
    measured[head_dim].push_back((row.number("reductions_between") + 1) * row.number("reductions") /
                                 row.number("waited_for"));
  });
  ASSERT_EQ(ours.size(), 5U);
  for (const auto& [head_dim, rows] : measured) {
    double sum = 0;
    for (const double value : rows) {
      sum += value;
    }
    const double mean = sum / static_cast<double>(rows.size());
    EXPECT_NEAR(static_cast<double>(ours.at(head_dim)) / mean, 1, 0.12) << head_dim << ": " << mean;
  }
}

}  // namespace
}  // namespace warpscope::tests

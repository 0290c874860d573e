#include "kernels/fa2/sequence_lengths.hpp"

#include <numeric>

#include "kernels/fa2/figure_table.hpp"
#include "kernels/fa2/forward_program.hpp"

namespace warpscope::kernels::fa2 {
namespace {

// Dao-AILab/flash-attention 0251105a, csrc/flash_attn/src/block_info.h, compiled by nvcc 13.0 with -O3
// --use_fast_math for sm_90: the instructions up to the first EXIT on the path of a launch with cu_seqlens_q
// and cu_seqlens_k, minus loads, their addresses and one use of each. Three loads that are predicated
// off count as integer instructions, EXIT as a branch. Head dimensions 64 and 128, with and without a causal
// mask, differ by one of 78.
constexpr FigureCounts kOfLengths{.integer = 4, .multiply = 3, .uniform = 30, .special = 2, .branch = 1};
constexpr FigureCounts kOfLengthsLeft{.integer = 4, .multiply = 1, .uniform = 18, .branch = 2};

GlobalTile number(const Affine& row) {
  return {kSeqlens, 0, row, 0, 1, 1, OutOfRange::leave};
}

}  // namespace

void add_length_symbols(PlanClass& target, std::int64_t length, std::int64_t longest, std::int64_t last_key) {
  const std::int64_t before = longest - length;
  target.symbols.insert(target.symbols.end(), {before, before + last_key, length});
}

// Queries and keys have the same lengths, and yet pointers of their own: the end of the keys is read behind a
// branch that asks whether lengths are sums.
void read_lengths(CtaMachine& machine) {
  const Affine sequence = block_index(1);
  machine.part(kLengths);
  machine.read_settled({number(sequence), number(sequence), number(sequence + 1)}, class_symbol(kLength));
  machine.part(kLengthsLeft);
  machine.read_settled({number(sequence + 1)}, 0);
}

void add_length_figures(BuildFigures& figures) {
  figures.parts[{kLengths, 0}] = {{.spread = counted_instructions(kOfLengths)}};
  figures.parts[{kLengthsLeft, 0}] = {{.spread = counted_instructions(kOfLengthsLeft)}};
}

void pack_sequences(std::vector<TensorSpec>& tensors, const Problem& problem) {
  const auto& lengths = problem.seqlens;
  const std::int64_t total = std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0});
  for (TensorSpec& tensor : tensors) {
    tensor.absent_rows = tensor.segments * tensor.rows - tensor.segments / problem.batch * total;
  }
  TensorSpec sums{"cu_seqlens", trace::TensorKind::input, 1, problem.batch + 1, 1, ElementType::int32};
  sums.values = {0};
  for (const std::int64_t length : lengths) {
    sums.values.push_back(sums.values.back() + static_cast<float>(length));
  }
  tensors.push_back(std::move(sums));
}

}  // namespace warpscope::kernels::fa2

#include "kernels/fa2/paged_keys.hpp"

#include <string>

#include "kernels/page_table.hpp"
#include "kernels/unsupported.hpp"

namespace warpscope::kernels::fa2 {
namespace {

using trace::Opcode;

// Dao-AILab/flash-attention 0251105a, compute_attn_1rowblock_splitkv of
// csrc/flash_attn/src/flash_fwd_kernel.h, compiled by nvcc 13.0 with -O3 --use_fast_math for sm_90: what
// stands between the branch for paged caches and the copy, 61 instructions in each of the four places at head
// dimension 128 but one with 59, minus two loads, their addresses and what takes their results. Both
// quotients by the page size come from one reciprocal, in a chain from which the loads wait: I2F, MUFU.RCP,
// F2I, products and corrections.
const CountedPart& next_page() {
  static const CountedPart kPart = {
      {.spread = {{Opcode::IADD3, 14}, {Opcode::IMAD, 13}, {Opcode::NOP, 3}},
       .chain = {{Opcode::I2F, 2}, {Opcode::MUFU_RCP, 1}, {Opcode::IMAD, 7}, {Opcode::IADD3, 15}},
       .end = BlockEnd::join}};
  return kPart;
}

// The sequence's row of the table, whose entries a CTA finds in one or a few sectors.
GlobalTile entry(const ForwardShape& shape) {
  const Affine sequence =
      block_index(shape.divides_keys() ? 2 : 1,
                  shape.divides_keys() ? static_cast<std::int32_t>(shape.problem.heads) : 1);
  return {page_table_tensor(shape), 0, sequence, 0, 1, 1, OutOfRange::leave};
}

}  // namespace

void check_pages(const Problem& problem) {
  constexpr std::int64_t kMultiple = 256;
  if (problem.page_size % kMultiple != 0) {
    throw UnsupportedProblem("fa2 takes pages of a multiple of " + std::to_string(kMultiple) +
                             " keys (page_size), not " + std::to_string(problem.page_size));
  }
}

int page_table_tensor(const ForwardShape& shape) {
  return shape.divides_keys() ? kPartLse + 1 : kLse + 1;
}

TensorSpec page_table_spec(const Problem& problem) {
  TensorSpec table{"block_table", trace::TensorKind::input,    1,
                   problem.batch, pages_per_sequence(problem), ElementType::int32};
  table.values = page_table(problem);
  return table;
}

Pages pages_of(const ForwardShape& shape) {
  const Problem& problem = shape.problem;
  return problem.page_size == 0 ? Pages{}
                                : Pages{page_table_tensor(shape), problem.page_size, problem.heads_kv};
}

void read_first_page(CtaMachine& machine, const ForwardShape& shape) {
  if (shape.problem.page_size > 0) {
    machine.read_settled({entry(shape)}, 0);
  }
}

void read_next_page(CtaMachine& machine, const ForwardShape& shape) {
  if (shape.problem.page_size > 0) {
    machine.part(kNextPage);
    machine.read_settled({entry(shape), entry(shape)}, 0);
  }
}

void add_page_figures(BuildFigures& figures) {
  figures.parts[{kNextPage, 0}] = next_page();
}

}  // namespace warpscope::kernels::fa2

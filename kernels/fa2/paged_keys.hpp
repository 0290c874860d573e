// K and V in pages, which a table finds (block_table of flash_attn_with_kvcache).
#pragma once

#include "kernels/fa2/forward_program.hpp"
#include "kernels/machine/plan.hpp"

namespace warpscope::kernels::fa2 {

/// Throws UnsupportedProblem for a page size that the library refuses.
void check_pages(const Problem& problem);

/// The table's place among the tensors of a plan: behind all others.
int page_table_tensor(const ForwardShape& shape);
TensorSpec page_table_spec(const Problem& problem);
/// How the rows of a tile of K or V are found.
Pages pages_of(const ForwardShape& shape);

/// Where a CTA reads the pages of its first key block.
void read_first_page(CtaMachine& machine, const ForwardShape& shape);
/// Where it moves on to the next: from the page of one block to that of the one before it.
void read_next_page(CtaMachine& machine, const ForwardShape& shape);
/// What the build has for that beside what the machine expands.
void add_page_figures(BuildFigures& figures);

}  // namespace warpscope::kernels::fa2

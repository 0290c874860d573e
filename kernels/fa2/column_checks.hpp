// What checking columns adds to the counted instructions of a FlashAttention-2 forward build.
#pragma once

#include "kernels/fa2/figure_table.hpp"

namespace warpscope::kernels::fa2 {

/// Where a head has fewer columns than the tile: besides the store of zeros and the dead loads that the trace
/// machine puts in front of each copy.
struct ColumnChecks {
  FigureCounts prologue;  ///< of a CTA
  FigureCounts steady;    ///< of an iteration of the loop
};
/// Those of a build for a tile of that head dimension.
ColumnChecks column_checks(int head_dim, bool causal);

/// Adds them to a build's own.
FigureCounts with_checks(FigureCounts counts, const FigureCounts& checks);

}  // namespace warpscope::kernels::fa2

// What a scan varies and what it leaves alone, as columns and as text.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "experiments/scan/scan.hpp"

namespace warpscope::experiments {

/// The columns of a points file that say what a point is.
inline constexpr std::array<std::string_view, 25> kScanColumns = {
    "gpu",      "kernel",   "pass",    "batch",     "heads",         "heads_kv",    "seqlen_q",
    "seqlen_k", "head_dim", "causal",  "dtype",     "num_splits",    "window",      "softcap",
    "alibi",    "seqlens",  "dropout", "page_size", "deterministic", "heads_first", "rows",
    "cols",     "depth",    "l2",      "set"};
using ScanCells = std::array<std::string, kScanColumns.size()>;

/// The cells of a point; empty for what its kernel does not take, and for what it is not asked for. Where the
/// values are no point, only these have a cell.
ScanCells scan_cells(const Scan& scan, const ScanPoint& point);

/// What all points have in common: "gpu h100-sxm5-80gb, kernel fa2, ...", changes of the GPU included.
std::string fixed_text(const Scan& scan);

}  // namespace warpscope::experiments

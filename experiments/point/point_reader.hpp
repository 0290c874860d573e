// From the text of flags or columns to a Point.
#pragma once

#include <string>

#include "experiments/point/field_reader.hpp"
#include "experiments/point/point.hpp"

namespace warpscope::experiments {

/// Fields: kernel, pass, batch, heads, heads_kv, seqlen_q, seqlen_k, head_dim, causal, dtype, num_splits,
/// window, softcap, alibi, seqlens, dropout, page_size, deterministic, heads_first, rows, cols, depth (the
/// kernel decides which of these it takes), gpu, l2, set (changes "sm.xu.lanes=8 l2.ways=8", on top of those
/// of `defaults`). Those that are optional fall back on `defaults`. Throws UsageError `name 'value': what is
/// legal`.
Point read_point(const FieldText& field_text, const FieldName& field_name, const ModelChoice& defaults);

/// "fast" or "detailed"; "cold" or "warm" (true). `name` is for the message.
gpu::Mode read_mode(const std::string& name, const std::string& value);
bool read_warm_l2(const std::string& name, const std::string& value);

}  // namespace warpscope::experiments

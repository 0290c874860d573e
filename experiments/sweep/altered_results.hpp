// What a user must know of a store that somebody, or a disk, has changed.
#pragma once

#include <string_view>

#include "experiments/store/result_store.hpp"

namespace warpscope::experiments {

/// A line on standard error where rows of the store are not what was put into it. `consequence` says what
/// becomes of their points.
void warn_of_altered(ResultStore& store, std::string_view consequence);

}  // namespace warpscope::experiments

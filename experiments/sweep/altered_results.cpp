#include "experiments/sweep/altered_results.hpp"

#include <fmt/format.h>

#include "experiments/base/output.hpp"

namespace warpscope::experiments {

void warn_of_altered(ResultStore& store, std::string_view consequence) {
  if (const std::size_t altered = store.altered(); altered > 0) {
    print_error(
        fmt::format("{}: {} of {} results do not match their checksums, so they were altered or "
                    "damaged; they {}",
                    store.file().string(), altered, store.size(), consequence));
  }
}

}  // namespace warpscope::experiments

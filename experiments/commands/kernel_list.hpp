// What `warpscope list kernels` prints: what each kernel takes, whose build it is, how much of it stands in
// tables.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace warpscope::experiments {

/// A row for each kernel and lines below it, which alone begin with a blank. Table shares are those of the
/// traces for `gpu`, a name or a file.
std::string kernels_text(const std::string& gpu);
/// One kernel, with table shares by pass, head dimension and mask. Throws UsageError for a name that is none.
std::string kernel_text(const std::string& name, const std::string& gpu);
/// All kernels at head dimensions 64 and 128, or the one of that name at more.
nlohmann::ordered_json kernels_json(const std::string& name, const std::string& gpu);

}  // namespace warpscope::experiments

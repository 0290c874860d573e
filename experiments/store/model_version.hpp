// Which model made a result.
#pragma once

#include <string>

namespace warpscope::experiments {

/// "0.1.0-" and a hash of the sources that decide a result: model/, kernels/ and what turns a run into
/// numbers. Results of two versions are never mixed.
std::string model_version();

}  // namespace warpscope::experiments

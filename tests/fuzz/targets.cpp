#include "tests/fuzz/targets.hpp"

#include <array>

namespace warpscope::fuzz {
namespace {

constexpr std::array kTargets = {
    Target{"command_line", command_line},
    Target{"config_file", config_file},
    Target{"overrides", overrides},
    Target{"points_csv", points_csv},
    Target{"remote_message", remote_message},
    Target{"result_json", result_json},
    Target{"simulate", simulate},
    Target{"store_file", store_file},
    Target{"store_rows", store_rows},
    Target{"trace_text", trace_text},
};

}  // namespace

std::span<const Target> all_targets() {
  return kTargets;
}

}  // namespace warpscope::fuzz

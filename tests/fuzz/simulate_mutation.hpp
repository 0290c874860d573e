// Changes to inputs of simulate() that leave most of them simulations.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace warpscope::fuzz {

/// `input` with other flags or another trace; empty where it holds no trace.
std::string mutated_simulation(std::string_view input, std::uint64_t seed);

}  // namespace warpscope::fuzz

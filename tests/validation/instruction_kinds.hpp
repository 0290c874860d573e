// The instructions that microbenchmarks repeat, by the name the measurements use.
#pragma once

#include <string>

#include "tests/validation/program_builder.hpp"

namespace warpscope::validation {

/// `links` links of `name` ("ffma", "ldmatrix_x4", ...) in each of `chains` chains, in turn. A link depends
/// on the link before in its chain. Where a link is two instructions, the second follows half the chains
/// behind the first, as a compiler places it to cover the latency. Throws std::invalid_argument for a name
/// that is not known.
void add_chains(ProgramBuilder& builder, const std::string& name, int first_chain, int chains, int links);

/// One independent instruction, number `number` of its group: results feed nothing.
void add_independent(ProgramBuilder& builder, const std::string& name, int number);

}  // namespace warpscope::validation

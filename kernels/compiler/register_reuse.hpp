// What becomes of the registers of a memory instruction behind it, which decides the scoreboards it needs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/compiler/liveness.hpp"

namespace warpscope::kernels {

/// Where a register that an instruction reads is written again.
enum class Reuse : std::uint8_t { none, later, in_block };

/// Whether a source of `code[i]` is written again before something waits for its result. `written_elsewhere`
/// holds registers that other blocks, or this one in its next run, write.
Reuse source_reuse(const std::vector<trace::Instruction>& code, std::size_t i,
                   const RegisterSet& written_elsewhere);

/// Whether `code[i]` loads from global memory what no instruction of its block reads.
bool is_late_load(const std::vector<trace::Instruction>& code, std::size_t i);
/// Whether `code`, a block, has such a load.
bool has_late_load(const std::vector<trace::Instruction>& code);

}  // namespace warpscope::kernels

// What a trace executes, counted from its text alone: a check on what the model counts while it runs.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "model/trace/launch.hpp"

namespace warpscope::trace {

/// Warp instructions by opcode; opcodes that are never executed are absent.
using OpcodeCounts = std::map<Opcode, std::uint64_t>;

/// Bytes that warp instructions ask for; those beyond the end of a segment, which are not moved, included.
struct RequestedBytes {
  std::uint64_t read = 0;
  std::uint64_t written = 0;  ///< stores and reductions

  bool operator==(const RequestedBytes&) const = default;
};

/// CTAs of each class, over the whole grid. Takes time by table length, not by grid size.
std::vector<std::uint64_t> ctas_per_class(const Launch& launch);

/// Warp instructions that a CTA of each class executes.
std::vector<std::uint64_t> instructions_per_cta(const Launch& launch);

/// These want a valid trace; they throw std::invalid_argument where a count exceeds 64 bits.
OpcodeCounts executed_instructions(const Launch& launch);
OpcodeCounts executed_instructions(const Trace& trace);
/// Of the code of which some CTA executes an instruction, in whole lines of 128 bytes; 16 bytes each.
std::uint64_t executed_code_bytes(const Launch& launch);
std::uint64_t total(const OpcodeCounts& counts);
/// Of the instructions that are executed those that are part of the operation of that name
/// (WarpProgram::operations).
std::uint64_t executed_in_operation(const Trace& trace, std::string_view operation);
/// Floating-point operations of these instructions (OpcodeInfo::flops).
std::uint64_t flops(const OpcodeCounts& counts);

bool uses_tensor_pipe(const Launch& launch);

/// Per tensor of the trace, in its order.
std::vector<RequestedBytes> requested_bytes(const Trace& trace, const Launch& launch);
std::vector<RequestedBytes> requested_bytes(const Trace& trace);

}  // namespace warpscope::trace

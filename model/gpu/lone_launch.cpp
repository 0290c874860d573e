#include "model/gpu/lone_launch.hpp"

#include <algorithm>

namespace warpscope::gpu {
namespace {

std::vector<std::size_t> named_tensors(const trace::Trace& trace, const trace::Launch& launch) {
  std::vector<bool> named(trace.tensors.size(), false);
  for (const trace::WarpProgram& program : launch.programs) {
    for (const trace::MemoryOperand& operand : program.memory_operands) {
      if (operand.tensor != trace::kSharedMemory) {
        named[operand.tensor] = true;
      }
    }
  }
  std::vector<std::size_t> result;
  for (std::size_t t = 0; t < named.size(); ++t) {
    if (named[t]) {
      result.push_back(t);
    }
  }
  return result;
}

}  // namespace

LoneLaunch alone(const trace::Trace& trace, const trace::Launch& launch) {
  // One by one: GCC 12 destroys what it has not built where a copy inside nested braces throws.
  LoneLaunch lone;
  lone.trace.launches.push_back(launch);
  lone.tensors = named_tensors(trace, launch);
  std::vector<std::uint16_t> new_number(trace.tensors.size());
  for (const std::size_t t : lone.tensors) {
    new_number[t] = static_cast<std::uint16_t>(lone.trace.tensors.size());
    lone.trace.tensors.push_back(trace.tensors[t]);
  }
  for (trace::WarpProgram& program : lone.trace.launches[0].programs) {
    for (trace::MemoryOperand& operand : program.memory_operands) {
      if (operand.tensor != trace::kSharedMemory) {
        operand.tensor = new_number[operand.tensor];
      }
    }
  }
  return lone;
}

}  // namespace warpscope::gpu

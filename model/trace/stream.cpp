#include "model/trace/stream.hpp"

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <utility>

namespace warpscope::trace {
namespace {

/// Number of `tensor` in the stream, in which it is placed if it is new there.
std::uint16_t number_in(Trace& stream, const Tensor& tensor) {
  const auto found = std::ranges::find(stream.tensors, tensor.name, &Tensor::name);
  const auto number = static_cast<std::uint16_t>(found - stream.tensors.begin());
  if (found == stream.tensors.end()) {
    stream.tensors.push_back(tensor);
    return number;
  }
  if (tensor.kind == TensorKind::local && found->kind == TensorKind::local) {
    found->segment_bytes = std::max(found->segment_bytes, tensor.segment_bytes);
  } else if (found->segments != tensor.segments || found->segment_bytes != tensor.segment_bytes) {
    throw std::logic_error("tensor " + tensor.name + " has another size in a later pass");
  }
  return number;
}

}  // namespace

Trace in_one_stream(std::vector<Trace> traces) {
  if (traces.size() == 1) {
    return std::move(traces.front());
  }
  Trace stream;
  for (Trace& trace : traces) {
    std::vector<std::uint16_t> numbers;
    for (const Tensor& tensor : trace.tensors) {
      numbers.push_back(number_in(stream, tensor));
    }
    for (Launch& launch : trace.launches) {
      for (WarpProgram& program : launch.programs) {
        for (MemoryOperand& operand : program.memory_operands) {
          operand.tensor = operand.tensor == kSharedMemory ? kSharedMemory : numbers.at(operand.tensor);
        }
      }
      stream.launches.push_back(std::move(launch));
    }
  }
  return stream;
}

}  // namespace warpscope::trace

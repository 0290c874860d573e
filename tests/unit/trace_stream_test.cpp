// Several traces as one stream: launches in order, tensors by name.
#include "model/trace/stream.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace warpscope::tests {
namespace {

using trace::TensorKind;
using trace::Trace;

/// A launch that accesses the tensors in their order, and shared memory last.
Trace trace_of(const std::string& launch, std::vector<trace::Tensor> tensors) {
  Trace result;
  trace::WarpProgram program;
  for (std::uint16_t i = 0; i < tensors.size(); ++i) {
    program.memory_operands.emplace_back().tensor = i;
  }
  program.memory_operands.emplace_back();
  result.tensors = std::move(tensors);
  result.launches.emplace_back().name = launch;
  result.launches.back().programs.push_back(program);
  return result;
}

TEST(TraceStream, TensorsOfOneNameAreOne) {
  const Trace first = trace_of("a", {{"Q", TensorKind::input, 2, 64},
                                     {"O", TensorKind::output, 2, 64},
                                     {"spills", TensorKind::local, 1, 10}});
  const Trace second = trace_of("b", {{"O", TensorKind::input, 2, 64},
                                      {"dQ", TensorKind::output, 2, 32},
                                      {"Q", TensorKind::input, 2, 64},
                                      {"spills", TensorKind::local, 1, 30}});
  const Trace stream = trace::in_one_stream({first, second});
  ASSERT_EQ(stream.tensors.size(), 4U);
  EXPECT_EQ(stream.tensors[1].name, "O");
  EXPECT_EQ(stream.tensors[1].kind, TensorKind::output);
  EXPECT_EQ(stream.tensors[2].segment_bytes, 30);
  EXPECT_EQ(stream.tensors[3].name, "dQ");
  ASSERT_EQ(stream.launches.size(), 2U);
  EXPECT_EQ(stream.launches[0], first.launches[0]);
  const auto& operands = stream.launches[1].programs[0].memory_operands;
  ASSERT_EQ(operands.size(), 5U);
  EXPECT_EQ(operands[0].tensor, 1);
  EXPECT_EQ(operands[1].tensor, 3);
  EXPECT_EQ(operands[2].tensor, 0);
  EXPECT_EQ(operands[3].tensor, 2);
  EXPECT_EQ(operands[4].tensor, trace::kSharedMemory);
}

TEST(TraceStream, OneTraceStaysAsItIs) {
  const Trace only = trace_of("a", {{"Q", TensorKind::input, 2, 64}});
  EXPECT_EQ(trace::in_one_stream({only}), only);
}

TEST(TraceStream, TensorsOfOneNameHaveOneSize) {
  const Trace first = trace_of("a", {{"Q", TensorKind::input, 2, 64}});
  EXPECT_THROW(trace::in_one_stream({first, trace_of("b", {{"Q", TensorKind::input, 2, 32}})}),
               std::logic_error);
}

}  // namespace
}  // namespace warpscope::tests

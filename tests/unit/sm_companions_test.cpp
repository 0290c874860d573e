// Requests that an SM sends for the others of its group.
#include <gtest/gtest.h>
#include <tlm_utils/simple_target_socket.h>

#include <utility>
#include <vector>

#include "model/memory/transaction.hpp"
#include "model/sim/simulation_context.hpp"
#include "model/sm/sm.hpp"
#include "tests/support/test_config.hpp"
#include "tests/support/trace_builder.hpp"

namespace warpscope::test {
namespace {

using memory::Place;

/// Keeps the places of companions.
struct Recorder : sc_core::sc_module {
  explicit Recorder(const sc_core::sc_module_name& name) : sc_module(name), socket("socket") {
    socket.register_b_transport(this, &Recorder::b_transport);
  }
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& /*delay*/) {
    memory::Transaction* transaction = nullptr;
    payload.get_extension(transaction);
    companions.insert(companions.end(), transaction->companions.begin(), transaction->companions.end());
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
  }
  tlm_utils::simple_target_socket<Recorder> socket;
  std::vector<Place> companions;
};

/// What the others of eight SMs read while the one with CTA 1 reads `operand` of a tensor of two segments of
/// 2000 bytes.
std::vector<Place> companions_of(const trace::MemoryOperand& operand) {
  sim::SimulationContext context;
  const hw::HwConfig config = test_config();
  Recorder memory("memory");
  sm::Sm sm("sm");
  sm.memory_side.bind(memory.socket);
  Program program;
  program.op(trace::Opcode::LDG_128).writes(1, 4).memory(operand).exit().reads(4);
  const trace::Trace trace{{tensor("t", 2000, 2)}, {one_program(program.build())}};
  const trace::Launch& launch = trace.launches[0];
  const sm::DecodedLaunch decoded = sm::decode(config, trace, launch);
  sm::SlotMembers members{.ctas = {}, .representative = 1};
  for (std::uint32_t x = 0; x < 8; ++x) {
    members.ctas.push_back({&launch.classes[0], {x, 0, 0}, false});
  }
  sm.stand_for({0, 8});
  sm.begin_launch(config, trace, launch, decoded, 1, nullptr);
  sm.install(0, std::move(members), 0, 0);
  sm.run_slice(0);
  return memory.companions;
}

trace::MemoryOperand operand_of_512_bytes() {
  trace::MemoryOperand operand;
  operand.tensor = 0;
  operand.bytes = 512;
  return operand;
}

TEST(Companions, AccessWhatOfTheirBytesLiesInTheTensor) {
  trace::MemoryOperand operand = operand_of_512_bytes();
  operand.offset.offset = -96;
  operand.offset.per_block[0] = 298;
  std::vector<std::pair<std::int64_t, std::uint32_t>> offsets_and_bytes;
  for (const Place& place : companions_of(operand)) {
    offsets_and_bytes.emplace_back(place.offset, place.bytes);
    EXPECT_EQ(place.segment, 0);
    EXPECT_EQ(place.accesses, 1U);
  }
  const std::vector<std::pair<std::int64_t, std::uint32_t>> expected = {
      {0, 416}, {500, 512}, {798, 512}, {1096, 512}, {1394, 512}, {1692, 308}, {1990, 10}};
  EXPECT_EQ(offsets_and_bytes, expected);
}

TEST(Companions, AccessTheLastBytesOfTheTensorWhole) {
  trace::MemoryOperand operand = operand_of_512_bytes();
  operand.offset.per_block[0] = 1488;
  const std::vector<Place> places = companions_of(operand);
  ASSERT_EQ(places.size(), 1U) << "CTA 2 and those after it lie behind the tensor";
  EXPECT_EQ(places[0].offset, 0);
  operand.offset.offset = 1488;
  operand.offset.per_block[0] = -1488;
  const std::vector<Place> other = companions_of(operand);
  ASSERT_EQ(other.size(), 1U);
  EXPECT_EQ(other[0].offset, 1488);
  EXPECT_EQ(other[0].bytes, 512U);
}

TEST(Companions, AccessNothingOutsideOfTheSegments) {
  trace::MemoryOperand operand = operand_of_512_bytes();
  operand.segment.offset = -1;
  operand.segment.per_block[0] = 1;
  const std::vector<Place> places = companions_of(operand);
  ASSERT_EQ(places.size(), 1U);
  EXPECT_EQ(places[0].segment, 1);
  EXPECT_EQ(places[0].bytes, 512U);
}

}  // namespace
}  // namespace warpscope::test

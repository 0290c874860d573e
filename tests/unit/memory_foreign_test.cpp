// Somebody else's memory in place of L2 and HBM.
#include <gtest/gtest.h>
#include <tlm_utils/simple_target_socket.h>

#include "model/memory/transaction.hpp"
#include "model/sim/simulation_context.hpp"
#include "model/sm/sm.hpp"
#include "tests/support/test_config.hpp"
#include "tests/support/trace_builder.hpp"

namespace warpscope::memory {
namespace {

using test::test_config;

/// A memory that knows nothing of warpscope: every access takes 99 time units.
struct ForeignMemory : sc_core::sc_module {
  explicit ForeignMemory(const sc_core::sc_module_name& name) : sc_module(name), socket("socket") {
    socket.register_b_transport(this, &ForeignMemory::b_transport);
  }
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    ++accesses;
    bytes += payload.get_data_length();
    last_address = payload.get_address();
    Transaction* transaction = nullptr;
    payload.get_extension(transaction);
    last_lines = transaction->lines;
    delay += sc_core::sc_time::from_value(99);
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
  }
  tlm_utils::simple_target_socket<ForeignMemory> socket;
  int accesses = 0;
  unsigned bytes = 0;
  sc_dt::uint64 last_address = 0;
  int last_lines = -1;
};

TEST(ForeignTlmMemory, ServesAnSmInPlaceOfOurs) {
  sim::SimulationContext context;
  const hw::HwConfig config = test_config();
  ForeignMemory memory("memory");
  sm::Sm sm("sm");
  sm.memory_side.bind(memory.socket);
  test::Program program;
  trace::MemoryOperand operand;
  operand.tensor = 0;
  operand.offset.offset = 640;
  operand.bytes = 512;
  operand.lines = 16;
  program.op(trace::Opcode::LDG_128).writes(1, 4).memory(operand).exit().reads(4);
  const trace::Trace trace{{test::tensor("t", 1 << 20)}, {test::one_program(program.build())}};
  const trace::Launch& launch = trace.launches[0];
  const sm::DecodedLaunch decoded = sm::decode(config, trace, launch);
  sm.begin_launch(config, trace, launch, decoded, 1, nullptr);
  sm.install(0, {.ctas = {{&launch.classes[0], {0, 0, 0}, false}}}, 0, 0);
  const sm::Slice slice = sm.run_slice(0);
  ASSERT_EQ(slice.completions.size(), 1U);
  ASSERT_EQ(config.sm.icache.l1_fill_cycles + 99, 104);
  EXPECT_EQ(slice.completions[0].first, 112) << "104 lies halfway between two cycles of the arrival grid";
  EXPECT_EQ(memory.accesses, 1);
  EXPECT_EQ(memory.bytes, 512U);
  EXPECT_EQ(memory.last_address, 640U);
  EXPECT_EQ(memory.last_lines, 16);
}

}  // namespace
}  // namespace warpscope::memory

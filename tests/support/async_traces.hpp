// A small trace that uses Hopper's asynchronous units.
#pragma once

#include "tests/support/trace_builder.hpp"

namespace warpscope::test {

/// One warp copies boxes into a ring of two places; four multiply what is there, and one of them stores.
inline trace::Trace asynchronous_units() {
  using enum trace::Opcode;
  Program producer("producer");
  trace::MemoryOperand box;
  box.tensor = 0;
  box.bytes = 4096;
  box.offset.per_iteration[0] = 4096;
  box.offset.per_block[0] = 1 << 16;
  producer.begin_loop(0).op(SYNCS_PHASECHK_TRYWAIT).immediate(1).op(SYNCS_ARRIVE).op(UTMALDG).memory(box);
  producer.end_loop().exit();
  Program consumer("consumer");
  consumer.begin_loop(0).op(SYNCS_PHASECHK_TRYWAIT).op(WARPGROUP_ARRIVE);
  consumer.op(HGMMA_64X64X16_F32).shared(1024, 8).op(HGMMA_64X64X16_F32).shared(1024, 8).immediate(1);
  consumer.op(WARPGROUP_DEPBAR_LE).op(SYNCS_ARRIVE).immediate(1).end_loop();
  consumer.op(BAR_SYNC).immediate(1 + 4 * trace::kBarrierNames).exit();
  trace::Launch launch;
  launch.name = "launch";
  launch.grid = {6, 1, 1};
  launch.threads_per_cta = 160;
  launch.shared_bytes_per_cta = 8192;
  launch.mbarriers = {{2, 1, 4096, false}, {2, 4, 0, true}};
  launch.programs = {producer.build_controlled(), consumer.build_controlled()};
  launch.classes = {{{0, 1, 1, 1, 1}, {9}, {}}};
  return {{tensor("in", 1 << 20)}, {launch}};
}

}  // namespace warpscope::test

// Loads of one warp, and when the last of them has arrived.
#pragma once

#include <algorithm>
#include <cstdint>

#include "tests/support/core_bench.hpp"

namespace warpscope::test {

/// When `count` loads have arrived that are answered after so many cycles, all of one warp.
inline std::int64_t loads_arrive(int count, std::int32_t answer_cycles) {
  Program program;
  for (int i = 0; i < count; ++i) {
    program.op(trace::Opcode::LDG_32).writes(static_cast<std::uint16_t>(i)).global(0, 0, 128);
  }
  program.exit();
  for (int i = 0; i < count; i += 3) {
    program.reads(static_cast<std::uint16_t>(i), static_cast<std::uint8_t>(std::min(3, count - i)));
  }
  CoreBench bench(test_config(), one_program(program.build()));
  bench.answer(answer_cycles);
  return bench.run();
}

}  // namespace warpscope::test

// The issue loop by what it issues: eight warps on one SM go round a loop. An item is a warp instruction.
#include <benchmark/benchmark.h>

#include <cstdint>

#include "experiments/point/point.hpp"
#include "model/hw/config_loader.hpp"
#include "tests/support/core_bench.hpp"

namespace warpscope {
namespace {

using enum trace::Opcode;
using test::Program;

constexpr std::uint32_t kWarps = 8;
constexpr std::uint32_t kTrips = 2000;

Program math_only() {
  Program program;
  program.begin_loop(0);
  for (std::uint16_t i = 0; i < 32; ++i) {
    program.op(FFMA).writes(i).reads(i).stall(2);
  }
  return program.end_loop().exit();
}

/// Fragments come from shared memory, then tensor instructions use them.
Program tensor_and_shared() {
  Program program;
  program.begin_loop(0);
  for (std::uint8_t block = 0; block < 4; ++block) {
    program.op(LDSM_X4).writes(64, 4).shared(512, 4).sets(block);
  }
  for (std::uint8_t block = 0; block < 4; ++block) {
    program.op(HMMA_16816_F32).writes(0, 4).reads(64, 4).waits_for(block);
    program.op(HMMA_16816_F32, 3).writes(0, 4).reads(64, 4);
  }
  return program.end_loop().exit();
}

/// Every other instruction goes to global memory, and its warp waits for it.
Program memory_heavy() {
  Program program;
  program.begin_loop(0);
  trace::MemoryOperand operand;
  operand.tensor = 0;
  operand.bytes = 512;
  operand.offset.per_iteration = {2048, 0, 0};
  operand.offset.per_warp = 1 << 22;
  for (std::uint8_t i = 0; i < 4; ++i) {
    operand.offset.offset = 512 * i;
    program.op(LDG_128).writes(static_cast<std::uint16_t>(8 * i), 4).memory(operand).sets(i);
  }
  for (std::uint8_t i = 0; i < 4; ++i) {
    program.op(FFMA).writes(64).reads(static_cast<std::uint16_t>(8 * i)).waits_for(i);
  }
  return program.end_loop().exit();
}

void issue(benchmark::State& state, Program (*make)()) {
  const hw::HwConfig config = hw::load("a100-sxm4-80gb", {}, experiments::config_directory()).config;
  const trace::WarpProgram program = make().build_controlled();
  std::uint64_t issued = 0;
  for (auto _ : state) {
    test::CoreBench bench(config, test::one_program(program, kWarps, 1, {kTrips}));
    bench.answer(300);
    bench.run(256);
    if (bench.deadlock()) {
      state.SkipWithError("no warp can go on");
      break;
    }
    issued += bench.stalled(metrics::Stall::selected);
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(issued));
}
BENCHMARK_CAPTURE(issue, math, &math_only)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(issue, tensor_and_shared, &tensor_and_shared)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(issue, memory, &memory_heavy)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace warpscope

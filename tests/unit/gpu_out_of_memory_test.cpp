// Memory that runs out at any moment of a simulation must not look like anything else.
#include <gtest/gtest.h>

#include <new>

#include "tests/support/gpu_bench.hpp"
#include "tests/support/scarce_memory.hpp"

namespace warpscope::test {
namespace {

enum class End { enough_memory, bad_alloc, did_without, other };

/// How a simulation ends in which one allocation fails, the one behind so many others.
End end_after(std::int64_t allocations, const trace::Trace& trace) {
  const hw::HwConfig config = test_config();
  const ScarceMemory scarce(allocations);
  try {
    gpu::simulate(config, trace);
    return ScarceMemory::ran_out() ? End::did_without : End::enough_memory;
  } catch (const std::bad_alloc&) {
    return End::bad_alloc;
  } catch (...) {
    return End::other;
  }
}

TEST(OutOfMemory, StaysBadAllocWhereverItHappens) {
  using enum trace::Opcode;
  const trace::Trace trace{
      {tensor("t", 1 << 20)},
      {one_program(Program().op(LDG_128).global(0, 0, 512).exit().build_controlled(), 2, 40)}};
  std::int64_t allocations = 0;
  End end = End::bad_alloc;
  for (; end != End::enough_memory; ++allocations) {
    end = end_after(allocations, trace);
    ASSERT_NE(end, End::other) << "after " << allocations << " allocations";
  }
  EXPECT_GT(allocations, 300);
}

}  // namespace
}  // namespace warpscope::test

// FA2 forward: the bytes that a CTA's warps touch, by executing the trace.
#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "kernels/fa2/fa2.hpp"
#include "model/trace/statistics.hpp"
#include "tests/support/gpu_limits.hpp"
#include "tests/support/trace_walk.hpp"

namespace warpscope::tests {
namespace {

enum Tensor : std::uint16_t { kQ, kK, kV, kO, kLse };

/// How often each 16 bytes (4 for LSE) of one segment of a tensor are touched by CTA `block`, and which
/// segment.
struct Touched {
  std::int64_t segment = -1;
  std::vector<int> pieces;
};

Touched touched(const trace::Trace& trace, std::uint16_t tensor, std::array<std::uint32_t, 3> block) {
  const trace::Launch& launch = trace.launches.at(0);
  const std::int64_t bytes = trace.tensors.at(tensor).segment_bytes;
  const std::int64_t unit = tensor == kLse ? 4 : 16;
  Touched result;
  result.pieces.assign(static_cast<std::size_t>(bytes / unit), 0);
  const auto& cta_class = launch.classes.at(trace::class_of(launch, block[0], block[1], block[2]));
  const auto& program = launch.programs.at(cta_class.program_of_warp[0]);
  for (std::uint32_t warp = 0; warp < trace::warps_per_cta(launch); ++warp) {
    walk(program, cta_class, 1 << 30, [&](const Step& step) {
      const std::uint32_t number = program.code[step.index].memory;
      if (number == trace::kNoMemory || program.memory_operands[number].tensor != tensor) {
        return;
      }
      const trace::MemoryOperand& operand = program.memory_operands[number];
      result.segment = evaluate(operand.segment, {block, warp}, step, cta_class);
      const std::int64_t first = evaluate(operand.offset, {block, warp}, step, cta_class);
      EXPECT_GE(first, 0);
      for (std::int64_t at = first; at < first + operand.bytes && at < bytes; at += unit) {
        ++result.pieces[static_cast<std::size_t>(at / unit)];
      }
    });
  }
  return result;
}

/// Pieces [first, end) are touched once, the others never.
void expect_once(const Touched& touched, std::int64_t first, std::int64_t end) {
  for (std::size_t i = 0; i < touched.pieces.size(); ++i) {
    const bool inside = static_cast<std::int64_t>(i) >= first && static_cast<std::int64_t>(i) < end;
    ASSERT_EQ(touched.pieces[i], inside ? 1 : 0) << "piece " << i;
  }
}

TEST(Fa2Addresses, EveryKeyBlockIsCopiedOnce) {
  const trace::Trace full = kernels::find_kernel("fa2").build({1, 1, 1, 512, 1024, 64, false}, kA100);
  const std::int64_t pieces = 1024 * 64 * 2 / 16;
  for (const std::uint16_t tensor : {kK, kV}) {
    expect_once(touched(full, tensor, {2, 0, 0}), 0, pieces);
  }
}

TEST(Fa2Addresses, CausalStopsAtTheDiagonal) {
  for (const std::int64_t head_dim : {64, 128}) {
    const trace::Trace causal =
        kernels::find_kernel("fa2").build({1, 1, 1, 1024, 1024, head_dim, true}, kA100);
    const std::int64_t row_pieces = head_dim * 2 / 16;
    for (std::uint32_t m = 0; m < 8; ++m) {
      for (const std::uint16_t tensor : {kK, kV}) {
        expect_once(touched(causal, tensor, {m, 0, 0}), 0, (m + 1) * 128 * row_pieces);
      }
    }
  }
}

TEST(Fa2Addresses, QueriesOutputsAndLseBelongToTheBlock) {
  const trace::Trace full = kernels::find_kernel("fa2").build({2, 4, 4, 512, 512, 64, false}, kA100);
  const std::int64_t row_pieces = 64 * 2 / 16;
  for (const std::uint16_t tensor : {kQ, kO}) {
    const Touched result = touched(full, tensor, {3, 1, 2});
    EXPECT_EQ(result.segment, 1 * 4 + 2);
    expect_once(result, 3 * 128 * row_pieces, 4 * 128 * row_pieces);
  }
  expect_once(touched(full, kLse, {3, 1, 2}), 3 * 128, 4 * 128);
}

TEST(Fa2Addresses, HeadsOfAGroupShareKeysAndValues) {
  const trace::Trace grouped = kernels::find_kernel("fa2").build({2, 8, 2, 128, 128, 64, false}, kA100);
  for (std::uint32_t head = 0; head < 8; ++head) {
    EXPECT_EQ(touched(grouped, kK, {0, 1, head}).segment, 1 * 2 + head / 4);
    EXPECT_EQ(touched(grouped, kV, {0, 1, head}).segment, 1 * 2 + head / 4);
  }
}

TEST(Fa2Addresses, UnevenLengthsTouchEveryByteOnce) {
  const trace::Trace uneven = kernels::find_kernel("fa2").build({1, 1, 1, 200, 333, 40, false}, kA100);
  expect_once(touched(uneven, kK, {1, 0, 0}), 0, 333 * 40 * 2 / 16);
  expect_once(touched(uneven, kQ, {1, 0, 0}), 128 * 40 * 2 / 16, 200 * 40 * 2 / 16);
  expect_once(touched(uneven, kLse, {1, 0, 0}), 128, 200);
}

TEST(Fa2Addresses, CtasWithoutKeysWriteZerosOnly) {
  const trace::Trace causal = kernels::find_kernel("fa2").build({1, 1, 1, 512, 128, 64, true}, kA100);
  expect_once(touched(causal, kK, {0, 0, 0}), 0, 0);
  expect_once(touched(causal, kQ, {0, 0, 0}), 0, 0);
  expect_once(touched(causal, kO, {0, 0, 0}), 0, 128 * 8);
  expect_once(touched(causal, kLse, {0, 0, 0}), 0, 128);
}

}  // namespace
}  // namespace warpscope::tests

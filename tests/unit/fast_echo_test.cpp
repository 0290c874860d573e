// What the SMs ask for that one of them stands for.
#include "model/fast/echo.hpp"

#include <gtest/gtest.h>

#include <span>
#include <utility>
#include <vector>

#include "model/memory/memory_system.hpp"
#include "tests/support/test_config.hpp"
#include "tests/support/trace_builder.hpp"

namespace warpscope::test {
namespace {

/// Eight SMs, of which the one with CTA 1 is simulated, read `operand` of a tensor of two segments of 2000
/// bytes.
class Echoes {
 public:
  explicit Echoes(const trace::MemoryOperand& operand)
      : trace_{{tensor("t", 2000, 2)},
               {one_program(Program()
                                .op(trace::Opcode::LDG_128)
                                .writes(1, 4)
                                .memory(operand)
                                .exit()
                                .reads(4)
                                .build())}},
        decoded_(sm::decode(config_, trace_, trace_.launches[0])),
        memory_(config_, {{2, 2000}}),
        echo_(trace_, decoded_, 1, {0, 8}, config_.l2) {
    fast::SlotMembers members{.ctas = {}, .representative = 1};
    for (std::uint32_t x = 0; x < 8; ++x) {
      members.ctas.push_back({&trace_.launches[0].classes[0], {x, 0, 0}, false});
    }
    std::vector<sm::SentRequest> sent;
    sm::SmCore core(config_, trace_, decoded_, 1, sent);
    core.install(0, members.ctas[1], 0);
    echo_.install(0, std::move(members));
    echo_.repeat(core.request(0, memory::AccessKind::read, 0, {}), own);
    memory_.begin_launch(config_.clock.max_mhz, false);
    echo_.release(700, memory_);
  }

  const fast::Demand& demand() const { return echo_.demand()[0]; }
  /// What the others have read.
  metrics::MovedBytes moved() const { return memory_.traffic()[0]; }
  /// How long 32 bytes of the tensor take much later: no longer than a hit where the L2 has them.
  std::int64_t cycles_to_read(std::int64_t segment, std::int64_t offset) {
    memory::Access access;
    access.time_cycles = 1'000'000;
    access.segment = segment;
    access.offset = offset;
    access.bytes = 32;
    std::vector<memory::Piece> pieces;
    memory_.split(access, pieces);
    std::vector<memory::Piece>* const asked = &pieces;
    memory_.serve(std::span(&asked, 1), 0, 1);
    return pieces[0].arrival_cycles - access.time_cycles;
  }

  memory::Access own;

 private:
  hw::HwConfig config_ = test_config();
  trace::Trace trace_;
  sm::DecodedLaunch decoded_;
  memory::MemorySystem memory_;
  fast::Echo echo_;
};

trace::MemoryOperand operand_of_512_bytes() {
  trace::MemoryOperand operand;
  operand.tensor = 0;
  operand.bytes = 512;
  return operand;
}

TEST(Echo, SmsThatReadTheSameAreOneAccess) {
  const Echoes echoes(operand_of_512_bytes());
  EXPECT_EQ(echoes.own.accesses, 8U);
  EXPECT_EQ(echoes.own.partitions, 3U) << "four SMs on each side of the L2";
  EXPECT_EQ(echoes.moved().l2_read, 0U);
  EXPECT_EQ(echoes.demand().read_asked, 8 * 512U);
  EXPECT_EQ(echoes.demand().read_moved, 8 * 512U);
}

TEST(Echo, OthersReadWhatOfTheirBytesLiesInTheTensor) {
  trace::MemoryOperand operand = operand_of_512_bytes();
  operand.offset.offset = -96;
  operand.offset.per_block[0] = 298;
  const Echoes echoes(operand);
  EXPECT_EQ(echoes.own.accesses, 1U);
  // From 0 to 416, then 512 bytes from 500, 798, 1096 and 1394 on, and up to 2000 from 1692 and 1990 on.
  EXPECT_EQ(echoes.moved().l2_read, (13 + 4 * 17 + 11 + 1) * 32U) << "whole sectors";
  EXPECT_EQ(echoes.moved().hbm_read, (13 + 48) * 32U) << "each sector once";
}

TEST(Echo, OthersReadNothingBehindTheTensor) {
  trace::MemoryOperand operand = operand_of_512_bytes();
  operand.offset.per_block[0] = 1488;
  EXPECT_EQ(Echoes(operand).moved().l2_read, 512U) << "CTA 2 and those after it lie behind it";
}

TEST(Echo, OthersReadNothingOutsideOfTheSegments) {
  trace::MemoryOperand operand = operand_of_512_bytes();
  operand.segment.offset = -1;
  operand.segment.per_block[0] = 1;
  Echoes echoes(operand);
  EXPECT_EQ(echoes.moved().l2_read, 512U);
  const int hit = test_config().l2.hit_latency_cycles;
  EXPECT_EQ(echoes.cycles_to_read(1, 480), hit);
  EXPECT_GT(echoes.cycles_to_read(1, 512), hit);
  EXPECT_GT(echoes.cycles_to_read(0, 0), hit);
}

}  // namespace
}  // namespace warpscope::test

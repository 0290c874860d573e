// What an L2 keeps of several regions that are read round by round, against an H200.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "experiments/csv/csv.hpp"
#include "model/memory/partitioned_cache.hpp"
#include "tests/support/l2_shape.hpp"

namespace warpscope::memory {
namespace {

constexpr std::int64_t kSms = 132;
constexpr std::int64_t kRounds = 6;
constexpr std::int64_t kChunkBytes = 65536;
constexpr std::int64_t kStepBytes = 8192;

/// One launch of regions.md.
struct Launch {
  std::string text;
  std::int64_t sm_step = 0;
  std::int64_t bytes = 0;  ///< of all regions
  std::int64_t regions = 0;
  std::int64_t gap_bytes = 0;
  double read_bytes = 0;
};

std::vector<Launch> measured_launches() {
  const experiments::CsvTable table =
      experiments::read_csv(WARPSCOPE_SOURCE_DIR "/experiments/reference/measured-h200/regions.csv");
  std::vector<Launch> launches;
  for (const experiments::CsvRecord& record : table.rows) {
    const auto number = [&](const char* column) {
      return std::stoll(record.fields.at(table.column(column)));
    };
    launches.push_back({record.text, number("sm_step"), number("total_mib") << 20, number("regions"),
                        number("gap_bytes"), static_cast<double>(number("dram__bytes_read.sum"))});
  }
  return launches;
}

/// How often each byte comes from HBM. All SMs go on together, each through chunks of its own.
double reads_of_a_byte(const Launch& launch) {
  PartitionedCache cache(tests::l2_shape("h200-sxm-141gb"));
  std::vector<WriteBack> written;
  Lookup found;
  const std::int64_t chunks = launch.bytes / kChunkBytes;
  const std::int64_t region_bytes = launch.bytes / launch.regions;
  for (std::int64_t round = 0; round < kRounds; ++round) {
    for (std::int64_t first = 0; first < chunks; first += kSms) {
      for (std::int64_t step = 0; step < kChunkBytes; step += kStepBytes) {
        for (std::int64_t sm = 0; sm < kSms; ++sm) {
          const std::int64_t chunk = first + (sm + round * launch.sm_step) % kSms;
          if (chunk < chunks) {
            const std::int64_t byte = chunk * kChunkBytes + step;
            const std::int64_t region = byte / region_bytes;
            const std::int64_t at = region * (region_bytes + launch.gap_bytes) + byte % region_bytes;
            cache.read({.first_block = block_key(0, at / kBlockBytes),
                        .sectors = kStepBytes / static_cast<std::int64_t>(kSectorBytes),
                        .partitions = 1U << sm % 2},
                       found, written);
          }
        }
      }
    }
  }
  return static_cast<double>(found.miss_bytes) / static_cast<double>(launch.bytes);
}

// All SMs take steps in turn here. On hardware those whose data is there run ahead, and more of it stays
// (regions.md), so the limit is wide.
TEST(Regions, AreReadAgainWhereTheL2DoesNotHoldThem) {
  double squares = 0;
  int count = 0;
  for (const Launch& launch : measured_launches()) {
    if (launch.sm_step != 0) {
      continue;
    }
    SCOPED_TRACE(launch.text);
    const double off = reads_of_a_byte(launch) - launch.read_bytes / static_cast<double>(launch.bytes);
    EXPECT_TRUE(launch.bytes > 32 << 20 || launch.gap_bytes > 65536 || std::abs(off) < 0.06) << off;
    squares += off * off;
    ++count;
  }
  ASSERT_EQ(count, 232);
  EXPECT_LT(std::sqrt(squares / count), 0.8);
}

}  // namespace
}  // namespace warpscope::memory

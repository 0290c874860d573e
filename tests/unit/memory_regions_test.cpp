// What an L2 keeps of several regions that are read round by round, against an H200.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "experiments/csv/csv.hpp"
#include "model/memory/partitioned_cache.hpp"
#include "tests/support/l2_shape.hpp"
#include "tests/support/readers_in_time.hpp"
#include "tests/support/sector_access.hpp"

namespace warpscope::memory {
namespace {

constexpr int kSms = 132;
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

/// How often each byte comes from HBM.
double reads_of_a_byte(const Launch& launch) {
  PartitionedCache cache(tests::l2_shape("h200-sxm-141gb"));
  std::vector<WriteBack> written;
  std::int64_t missed_bytes = 0;
  const std::int64_t region_bytes = launch.bytes / launch.regions;
  struct Place {
    std::int64_t round = 0;
    std::int64_t byte = 0;  ///< of all regions
  };
  std::vector<Place> places(kSms);
  for (std::size_t sm = 0; sm < places.size(); ++sm) {
    places[sm].byte = static_cast<std::int64_t>(sm) * kChunkBytes;
  }
  tests::read_in_time(kSms, [&](int sm) {
    Place& place = places[static_cast<std::size_t>(sm)];
    if (place.byte >= launch.bytes) {
      place = {.round = place.round + 1, .byte = sm * kChunkBytes};
    }
    if (place.round == kRounds || place.byte >= launch.bytes) {
      return tests::Step::ended;
    }
    const std::int64_t at =
        place.byte / region_bytes * (region_bytes + launch.gap_bytes) + place.byte % region_bytes;
    Lookup found;
    read_sectors(cache,
                 {.first_block = block_key(0, at / kBlockBytes),
                  .sectors = kStepBytes / kSectorBytes,
                  .partitions = 1U << sm % 2},
                 found, written);
    place.byte += kStepBytes;
    if (place.byte % kChunkBytes == 0) {
      place.byte += (kSms - 1) * kChunkBytes;
    }
    missed_bytes += found.miss_bytes;
    return found.miss_bytes > 0 ? tests::Step::missed : tests::Step::hit;
  });
  return static_cast<double>(missed_bytes) / static_cast<double>(launch.bytes);
}

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
  EXPECT_LT(std::sqrt(squares / count), 0.3);
}

}  // namespace
}  // namespace warpscope::memory

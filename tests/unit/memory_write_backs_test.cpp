// What the L2 writes back beside reads, against an H200 and an H100.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "experiments/csv/csv.hpp"
#include "model/memory/partitioned_cache.hpp"
#include "tests/support/l2_shape.hpp"
#include "tests/support/sector_access.hpp"

namespace warpscope::memory {
namespace {

constexpr std::int64_t kSms = 132;
constexpr std::int64_t kChunksOfMib = 256;  // of 4 KB

/// One launch of write_backs.md.
struct Launch {
  std::string text;
  std::string order;
  std::int64_t writes = 0;  ///< chunks
  std::int64_t reads = 0;
  std::int64_t ctas = 0;
  double written_bytes = 0;
};

std::vector<Launch> measured_launches(const std::string& gpu) {
  const experiments::CsvTable table = experiments::read_csv(
      WARPSCOPE_SOURCE_DIR "/experiments/reference/measured-" + gpu + "/write_backs.csv");
  std::vector<Launch> launches;
  for (const experiments::CsvRecord& record : table.rows) {
    const auto text = [&](const char* column) { return record.fields.at(table.column(column)); };
    const auto chunks = [&](const char* column) {
      return static_cast<std::int64_t>(std::stod(text(column)) * kChunksOfMib);
    };
    launches.push_back({record.text, text("order"), chunks("write_mib"), chunks("read_mib"),
                        std::stoll(text("ctas")), std::stod(text("dram__bytes_write.sum"))});
  }
  return launches;
}

/// The bytes that a launch leaves dirty.
double left_dirty(const Launch& launch, const CacheShape& shape) {
  PartitionedCache cache(shape);
  std::vector<WriteBack> written;
  const auto access = [&](std::uint32_t tensor, std::int64_t chunk, std::int64_t cta) {
    return SectorAccess{.first_block = block_key(tensor, 2 * chunk),
                        .sectors = 2 * kSectorsPerBlock,
                        .partitions = 1U << cta % launch.ctas % kSms % 2};
  };
  const bool adds = launch.order == "adds_by_turns";
  const auto write = [&](std::int64_t chunk, std::int64_t cta) {
    SectorAccess of_chunk = access(0, chunk, cta);
    of_chunk.partitions = adds ? 0 : of_chunk.partitions;
    Lookup ignored;
    write_sectors(cache, of_chunk, ignored, written);
  };
  const auto read = [&](std::int64_t chunk, std::int64_t cta) {
    Lookup ignored;
    read_sectors(cache, access(1, chunk, cta), ignored, written);
  };
  const std::int64_t turns = std::max(launch.writes, launch.reads);
  const bool by_turns = adds || launch.order == "by_turns";
  for (std::int64_t chunk = 0; launch.order == "reads_first" && chunk < launch.reads; ++chunk) {
    read(chunk, chunk);
  }
  for (std::int64_t chunk = 0; !by_turns && chunk < launch.writes; ++chunk) {
    write(chunk, chunk);
  }
  for (std::int64_t chunk = 0; launch.order == "writes_first" && chunk < launch.reads; ++chunk) {
    read(chunk, chunk);
  }
  for (std::int64_t turn = 0; by_turns && turn < turns; ++turn) {
    for (std::int64_t i = turn * launch.reads / turns; i < (turn + 1) * launch.reads / turns; ++i) {
      read(i, turn);
    }
    for (std::int64_t i = turn * launch.writes / turns; i < (turn + 1) * launch.writes / turns; ++i) {
      write(i, turn);
    }
  }
  return static_cast<double>(cache.dirty_bytes());
}

/// Root mean square of what is left too much or too little, of launches with two CTAs on an SM.
double off_bytes(const std::string& gpu, const CacheShape& shape, int expected_launches) {
  double squares = 0;
  int count = 0;
  for (const Launch& launch : measured_launches(gpu)) {
    if (launch.ctas == 2 * kSms) {
      SCOPED_TRACE(launch.text);
      const double measured = static_cast<double>(launch.writes * 2 * kBlockBytes) - launch.written_bytes;
      const double off = left_dirty(launch, shape) - measured;
      EXPECT_LT(std::abs(off), 6.1e6);
      squares += off * off;
      ++count;
    }
  }
  EXPECT_EQ(count, expected_launches);
  return std::sqrt(squares / count);
}

TEST(WriteBacks, LeaveAsMuchDirtyAsOnAnH200) {
  EXPECT_LT(off_bytes("h200", tests::l2_shape("h200-sxm-141gb"), 49), 1.6e6);
}

TEST(WriteBacks, LeaveAsMuchDirtyAsOnAnH100) {
  EXPECT_LT(off_bytes("h100", tests::l2_shape("h100-sxm5-80gb"), 49), 1.5e6);
}

}  // namespace
}  // namespace warpscope::memory

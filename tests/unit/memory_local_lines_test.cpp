// Spilled registers in the L2: what CTAs write again and again beside what they read and write once, against
// an H200.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "experiments/csv/csv.hpp"
#include "model/memory/partitioned_cache.hpp"
#include "tests/support/l2_shape.hpp"
#include "tests/support/sector_access.hpp"

namespace warpscope::memory {
namespace {

constexpr int kSms = 132;
constexpr int kSteps = 8;
constexpr std::int64_t kWordOfCtaBytes = 4 * 128;  // of four warps

/// One launch of local_lines.md.
struct Launch {
  std::string text;
  std::int64_t words = 0;
  int ctas = 0;
  int ctas_per_sm = 0;
  std::int64_t out_kib = 0;
  std::int64_t again = 0;
  std::int64_t in_kib = 0;
  bool even = true;
  double written_bytes = 0;
};

std::vector<Launch> measured_launches() {
  const experiments::CsvTable table =
      experiments::read_csv(WARPSCOPE_SOURCE_DIR "/experiments/reference/measured-h200/local_lines.csv");
  std::vector<Launch> launches;
  for (const experiments::CsvRecord& record : table.rows) {
    const auto number = [&](const char* column) {
      return std::stoll(record.fields.at(table.column(column)));
    };
    launches.push_back({record.text, number("words"), static_cast<int>(number("ctas")),
                        static_cast<int>(number("ctas_per_sm")), number("out_kib"), number("again"),
                        number("in_kib"), number("uneven") == 0,
                        static_cast<double>(number("dram__bytes_write.sum"))});
  }
  return launches;
}

/// The CTAs of a launch on the L2 of an H200, each in its place.
class PlacedCtas {
 public:
  explicit PlacedCtas(const Launch& launch) : launch_(launch) {}

  double written_bytes() {
    std::vector<Place> places(static_cast<std::size_t>(kSms * launch_.ctas_per_sm));
    for (Place& place : places) {
      place.cta = begun_ < launch_.ctas ? begun_++ : -1;
    }
    std::mt19937 random(1);
    while (ended_ < launch_.ctas) {
      for (std::size_t i = 0; i < places.size(); ++i) {
        // Equal CTAs get apart by chance.
        if (places[i].cta >= 0 && random() % 4 != 0) {
          advance(static_cast<int>(i), places[i]);
        }
      }
    }
    std::int64_t bytes = 0;
    for (const WriteBack& written : written_) {
      bytes += written.dirty_bytes;
    }
    return static_cast<double>(bytes);
  }

 private:
  struct Place {
    int cta = -1;
    int step = 0;
    std::int64_t read_bytes = 0;  ///< of the step
  };
  enum Tensor : std::uint32_t { kWords, kInput, kOutput };

  SectorAccess access(Tensor tensor, std::int64_t byte, std::int64_t bytes, int place) const {
    return {.first_block = block_key(tensor, byte / kBlockBytes),
            .first_sector = byte % kBlockBytes / kSectorBytes,
            .sectors = bytes / kSectorBytes,
            .partitions = 1U << place / launch_.ctas_per_sm % 2};
  }
  void write(Tensor tensor, std::int64_t byte, std::int64_t bytes, int place) {
    Lookup ignored;
    write_sectors(cache_, access(tensor, byte, bytes, place), ignored, written_);
  }
  void write_words(std::int64_t count, int place) {
    for (std::int64_t word = 0; word < count; ++word) {
      write(kWords, (place * launch_.words + word) * kWordOfCtaBytes, kWordOfCtaBytes, place);
    }
  }
  void advance(int number, Place& place) {
    constexpr std::int64_t kReadBytes = 4096;
    if (place.step == kSteps) {
      for (std::int64_t kib = 0; kib < launch_.out_kib; kib += 2) {
        write(kOutput, (place.cta * launch_.out_kib + kib) << 10, 2 << 10, number);
      }
      place = {.cta = begun_ < launch_.ctas ? begun_++ : -1};
      ++ended_;
      return;
    }
    if (place.read_bytes == 0) {
      write_words(place.step == 0 ? launch_.words : 0, number);
      write_words(launch_.again, number);
    }
    const std::int64_t step_bytes = launch_.in_kib << 10;
    if (step_bytes > 0) {
      Lookup ignored;
      const std::int64_t begin = (std::int64_t{place.cta} * kSteps + place.step) * step_bytes;
      read_sectors(cache_, access(kInput, begin + place.read_bytes, kReadBytes, number), ignored, written_);
      place.read_bytes += kReadBytes;
    }
    if (place.read_bytes >= step_bytes) {
      place.read_bytes = 0;
      ++place.step;
    }
  }

  const Launch& launch_;
  PartitionedCache cache_{tests::l2_shape("h200-sxm-141gb")};
  std::vector<WriteBack> written_;
  int begun_ = 0;
  int ended_ = 0;
};

// Of what is written less than 20 MB the difference counts as part of 20. Where nothing but 13 MB of words is
// written, again and again, the hardware loses some of them and the model none (local_lines.md).
TEST(LocalLines, HbmBytesWrittenAreThoseOfAnH200) {
  double squares = 0;
  int count = 0;
  for (const Launch& launch : measured_launches()) {
    if (launch.even && launch.in_kib % 12 == 0 && launch.words >= 16) {
      SCOPED_TRACE(launch.text);
      const double off = PlacedCtas(launch).written_bytes() - launch.written_bytes;
      const double part = off / std::max(20e6, launch.written_bytes);
      EXPECT_LE(std::abs(part), 1.0);
      squares += part * part;
      ++count;
    }
  }
  ASSERT_EQ(count, 81);
  EXPECT_LT(std::sqrt(squares / count), 0.26);
}

}  // namespace
}  // namespace warpscope::memory

// What the L2 keeps, and what it writes back, against an H200 and an H100. All SMs took each step together
// there.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "experiments/csv/csv.hpp"
#include "model/hw/config_loader.hpp"
#include "model/memory/memory_system.hpp"

namespace warpscope::memory {
namespace {

constexpr std::uint32_t kBothSides = 3;
constexpr std::uint32_t kStepBytes = 8192;

/// An L2 whose SMs read and write tensors of one launch.
class L2 {
 public:
  L2(const std::string& gpu, const std::vector<TensorExtent>& tensors)
      : memory_(hw::load(gpu, {}, WARPSCOPE_SOURCE_DIR "/hwconfigs").config, tensors) {
    memory_.begin_launch(1000, false);
  }
  /// SMs of these partitions access bytes of a tensor's first segment.
  void access(AccessKind kind, std::uint16_t tensor, std::int64_t offset, std::uint32_t bytes,
              std::uint32_t partitions) {
    const Access what{
        .tensor = tensor, .kind = kind, .offset = offset, .bytes = bytes, .partitions = partitions};
    memory_.touch({&what, 1}, 0);
  }
  void read(std::int64_t offset, std::uint32_t partitions) {
    access(AccessKind::read, 0, offset, kStepBytes, partitions);
  }
  double read_from_hbm() const { return static_cast<double>(memory_.traffic()[0].hbm_read); }
  double written_to_hbm() const { return static_cast<double>(memory_.traffic()[0].hbm_write); }

 private:
  MemorySystem memory_;
};

using Row = std::map<std::string, std::string>;

std::vector<Row> rows_of(const std::string& file) {
  const experiments::CsvTable table =
      experiments::read_csv(WARPSCOPE_SOURCE_DIR "/experiments/reference/" + file);
  std::vector<Row> rows;
  for (const experiments::CsvRecord& record : table.rows) {
    Row& row = rows.emplace_back();
    for (std::size_t column = 0; column < table.header.fields.size(); ++column) {
      row[table.header.fields[column]] = record.fields[column];
    }
  }
  return rows;
}

std::int64_t number(const Row& row, const std::string& column) {
  return std::stoll(row.at(column));
}

std::int64_t mebibytes(const Row& row, const std::string& column) {
  return number(row, column) << 20;
}

/// Root mean square of what `off` says of the rows, of all for which `chosen` holds.
double root_mean_square(const std::vector<Row>& rows, const std::function<bool(const Row&)>& chosen,
                        const std::function<double(const Row&)>& off, int expected_rows) {
  double squares = 0;
  int count = 0;
  for (const Row& row : rows) {
    if (chosen(row)) {
      squares += std::pow(off(row), 2);
      ++count;
    }
  }
  EXPECT_EQ(count, expected_rows);
  return std::sqrt(squares / count);
}

/// l2_rounds.md: how much more of the bytes comes from HBM in each round after the first than on hardware.
double rounds_off(const std::string& gpu, const Row& row) {
  constexpr std::int64_t kChunkBytes = 16384;
  constexpr std::int64_t kSmsOfSide = 66;
  const std::int64_t bytes = mebibytes(row, "mib");
  const std::string& readers = row.at("readers");
  const std::int64_t sms = readers == "each" ? 2 * kSmsOfSide : kSmsOfSide;
  L2 l2(gpu, {{.segments = 1, .segment_bytes = bytes}});
  for (std::int64_t round = 0; round < number(row, "rounds"); ++round) {
    for (std::int64_t chunk = 0; chunk < bytes / kChunkBytes; ++chunk) {
      const std::int64_t sm = (chunk + round * (sms - number(row, "step"))) % sms;
      const std::uint32_t partitions = readers == "each"       ? 1U << sm % 2
                                       : readers == "one_side" ? 1U
                                                               : kBothSides;
      for (std::int64_t part = 0; part < kChunkBytes; part += kStepBytes) {
        l2.read(chunk * kChunkBytes + part, partitions);
      }
    }
  }
  return (l2.read_from_hbm() - static_cast<double>(number(row, "dram__bytes_read.sum"))) /
         static_cast<double>(bytes * (number(row, "rounds") - 1));
}

TEST(L2Contents, OfRoundsAreThoseOfHardware) {
  const auto read_by = [](const char* readers) {
    return [=](const Row& row) { return row.at("readers") == readers && number(row, "rounds") == 2; };
  };
  const std::vector<Row> on_h200 = rows_of("measured-h200/l2_rounds.csv");
  const auto off_h200 = [](const Row& row) { return rounds_off("h200-sxm-141gb", row); };
  EXPECT_LT(root_mean_square(on_h200, read_by("each"), off_h200, 71), 0.04);
  EXPECT_LT(root_mean_square(on_h200, read_by("one_side"), off_h200, 46), 0.02);
  EXPECT_LT(root_mean_square(on_h200, read_by("both_sides"), off_h200, 46), 0.03);
  const std::vector<Row> on_h100 = rows_of("measured-h100/l2_rounds.csv");
  const auto off_h100 = [](const Row& row) { return rounds_off("h100-sxm5-80gb", row); };
  EXPECT_LT(root_mean_square(on_h100, read_by("each"), off_h100, 82), 0.06);
  EXPECT_LT(root_mean_square(on_h100, read_by("one_side"), off_h100, 48), 0.03);
  EXPECT_LT(root_mean_square(on_h100, read_by("both_sides"), off_h100, 48), 0.05);
}

/// l2_copies.md: the part of the hot bytes that comes from HBM once more at the end, less that of hardware.
double copies_off(const Row& row) {
  const std::int64_t hot = mebibytes(row, "hot_mib");
  const std::int64_t stream = mebibytes(row, "stream_mib");
  constexpr std::int64_t kRoundBytes = 2 << 20;
  constexpr std::uint32_t kHotSide = 1;
  constexpr std::uint32_t kStreamSide = 2;
  L2 l2("h200-sxm-141gb", {{.segments = 1, .segment_bytes = hot + stream}});
  const auto read = [&](std::int64_t begin, std::int64_t end, std::uint32_t side) {
    for (; begin < end; begin += kStepBytes) {
      l2.read(begin, side);
    }
  };
  read(0, hot, kHotSide);
  for (std::int64_t done = 0; done < stream; done += kRoundBytes) {
    read(hot + done, hot + done + kRoundBytes, kStreamSide);
    if (number(row, "again") > 0) {
      read(0, hot, kHotSide);
    }
  }
  read(0, hot, row.at("last") == "streamers" ? kStreamSide : kHotSide);
  return (l2.read_from_hbm() - static_cast<double>(number(row, "dram__bytes_read.sum"))) /
         static_cast<double>(hot);
}

TEST(L2Contents, HomesSeeNothingOfReadsOfCopies) {
  const auto chosen = [](const Row& row) {
    return row.at("last") != "nobody" && (number(row, "again") == 0 || number(row, "again") == 4);
  };
  EXPECT_LT(root_mean_square(rows_of("measured-h200/l2_copies.csv"), chosen, copies_off, 104), 0.05);
}

/// Rows a fixed distance apart as a segment among others whose rows lie between them.
TensorExtent extent_of(const Row& row) {
  const std::int64_t row_bytes = number(row, "row_bytes");
  const std::int64_t pitch_bytes = number(row, "pitch_bytes");
  return {.segments = pitch_bytes / row_bytes,
          .segment_bytes = mebibytes(row, "mib"),
          .interleaved_segments = pitch_bytes / row_bytes,
          .line_segments = std::min<std::int64_t>(128, pitch_bytes) / std::min<std::int64_t>(128, row_bytes)};
}

bool fills_its_pitch(const Row& row) {
  return number(row, "pitch_bytes") % number(row, "row_bytes") == 0;
}

/// l2_rows.md: as rounds_off(), of three rounds on both sides.
double rows_off(const Row& row) {
  const std::int64_t bytes = mebibytes(row, "mib");
  L2 l2("h200-sxm-141gb", {extent_of(row)});
  for (int round = 0; round < 3; ++round) {
    for (std::int64_t begin = 0; begin < bytes; begin += kStepBytes) {
      l2.read(begin, kBothSides);
    }
  }
  return (l2.read_from_hbm() - static_cast<double>(number(row, "dram__bytes_read.sum"))) /
         static_cast<double>(2 * bytes);
}

TEST(L2Contents, OfRowsFarApartFillSetsByChance) {
  const std::vector<Row> rows = rows_of("measured-h200/l2_rows.csv");
  const auto of = [](std::int64_t row_bytes) {
    return [=](const Row& row) { return number(row, "row_bytes") == row_bytes && fills_its_pitch(row); };
  };
  EXPECT_LT(root_mean_square(rows, of(512), rows_off, 128), 0.04);
  EXPECT_LT(root_mean_square(rows, of(256), rows_off, 129), 0.03);
  EXPECT_LT(root_mean_square(rows, of(128), rows_off, 131), 0.06);
}

/// l2_written_rows.md: MB that stay dirty, less those on hardware.
double written_rows_off(const Row& row) {
  const std::int64_t bytes = mebibytes(row, "mib");
  const std::int64_t reads = number(row, "reads");
  L2 l2("h200-sxm-141gb", {extent_of(row), {.segments = 1, .segment_bytes = reads * bytes + 1}});
  std::uint32_t partitions = 1;
  for (std::int64_t begin = 0; begin < bytes; begin += kStepBytes) {
    for (std::int64_t read = 0; read < reads; ++read) {
      l2.access(AccessKind::read, 1, read * bytes + begin, kStepBytes, partitions);
    }
    l2.access(AccessKind::write, 0, begin, kStepBytes, partitions);
    partitions = kBothSides - partitions;
  }
  return (static_cast<double>(number(row, "dram__bytes_write.sum")) - l2.written_to_hbm()) / 1e6;
}

TEST(L2Contents, DirtyLinesAreBoundedSetBySet) {
  const std::vector<Row> rows = rows_of("measured-h200/l2_written_rows.csv");
  const auto of = [](std::int64_t row_bytes, std::int64_t reads) {
    return [=](const Row& row) {
      return number(row, "row_bytes") == row_bytes && number(row, "reads") == reads && fills_its_pitch(row);
    };
  };
  EXPECT_LT(root_mean_square(rows, of(512, 0), written_rows_off, 70), 0.5);
  EXPECT_LT(root_mean_square(rows, of(512, 1), written_rows_off, 70), 1.0);
  EXPECT_LT(root_mean_square(rows, of(512, 3), written_rows_off, 70), 1.0);
  EXPECT_LT(root_mean_square(rows, of(64, 0), written_rows_off, 78), 0.5);
}

}  // namespace
}  // namespace warpscope::memory

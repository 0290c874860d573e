// The GPU descriptions that are shipped.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <sstream>
#include <type_traits>
#include <utility>

#include "model/hw/config_schema.hpp"
#include "tests/unit/hw_test_support.hpp"

namespace warpscope::hw {
namespace {

using test::shipped_dir;

std::vector<std::string> lines_of(const std::string& name) {
  std::istringstream in(test::read_text(shipped_dir / (name + ".toml")));
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) {
    lines.push_back(line);
  }
  return lines;
}

/// The comment of the key on line `at`: behind it, or the comment lines right above it.
std::string comment_of(const std::vector<std::string>& lines, std::size_t at) {
  const std::size_t behind = lines[at].find(" # ");
  if (behind != std::string::npos) {
    return lines[at].substr(behind);
  }
  std::string comment;
  while (at > 0 && lines[at - 1].starts_with("#")) {
    comment.insert(0, lines[--at] + "\n");
  }
  return comment;
}

TEST(ShippedConfigs, AreListedByName) {
  EXPECT_EQ(list_configs(shipped_dir),
            (std::vector<std::string>{"a100-pcie-80gb", "a100-sxm4-40gb", "a100-sxm4-80gb", "h100-pcie-80gb",
                                      "h100-sxm5-80gb", "h200-sxm-141gb"}));
}

TEST(ShippedConfigs, LoadWithoutProblems) {
  for (const std::string& name : list_configs(shipped_dir)) {
    EXPECT_EQ(check(name, shipped_dir), std::vector<std::string>{}) << name;
    const LoadedConfig loaded = load(name, {}, shipped_dir);
    EXPECT_EQ(loaded.config.id, name);
    EXPECT_EQ(loaded.rows.size(), key_specs().size());
  }
}

bool is_setting(const std::string& line) {
  return !line.empty() && line.front() >= 'a' && line.front() <= 'z' && !line.starts_with("base ");
}

bool says_where_from_and_how_sure(const std::string& comment) {
  const std::size_t source = comment.find("source: ");
  const std::size_t confidence = comment.find("; confidence: ");
  const std::size_t on_a_new_line = comment.find(";\n# confidence: ");
  const std::size_t end = std::min(confidence, on_a_new_line);
  if (source == std::string::npos || end == std::string::npos || end < source + 10) {
    return false;
  }
  const std::string level = comment.substr(comment.find("confidence: ", end) + 12);
  return level.starts_with("high") || level.starts_with("medium") || level.starts_with("low");
}

TEST(ShippedConfigs, EveryKeyHasSourceAndConfidence) {
  for (const std::string& name : list_configs(shipped_dir)) {
    const std::vector<std::string> lines = lines_of(name);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (is_setting(lines[i])) {
        EXPECT_TRUE(says_where_from_and_how_sure(comment_of(lines, i)))
            << name << ".toml:" << i + 1 << ": " << lines[i];
      }
    }
  }
}

TEST(ShippedConfigs, EveryKeyWithUnitsNamesThem) {
  for (const std::string& name : list_configs(shipped_dir)) {
    const std::vector<std::string> lines = lines_of(name);
    for (const ConfigRow& row : load(name, {}, shipped_dir).rows) {
      const std::string file = (shipped_dir / (name + ".toml")).string() + ":";
      if (row.unit.empty() || !row.origin.starts_with(file)) {
        continue;
      }
      const std::string comment = comment_of(lines, std::stoul(row.origin.substr(file.size())) - 1);
      // Counts of SMs, lanes and the like may go without: the key says what is counted.
      if (row.unit == "cycles" || row.unit == "ns" || row.unit == "bytes" || row.unit == "us") {
        EXPECT_NE(comment.find(row.unit), std::string::npos) << name << ": " << row.key;
      }
    }
  }
}

TEST(ShippedConfigs, HashesDiffer) {
  std::set<std::string> hashes;
  for (const std::string& name : list_configs(shipped_dir)) {
    hashes.insert(content_hash(load(name, {}, shipped_dir).config));
  }
  EXPECT_EQ(hashes.size(), list_configs(shipped_dir).size());
}

// Peak dense fp16 rates follow from SMs, interval and clock and are on the data sheets.
TEST(ShippedConfigs, TensorPeakOfA100IsTheDataSheets) {
  const HwConfig a100 = load("a100-sxm4-80gb", {}, shipped_dir).config;
  const double flop_per_cycle = 2.0 * 16 * 8 * 16 / a100.sm.tensor.hmma_16816.interval_cycles;
  const double tflops =
      flop_per_cycle * a100.sm.sub_cores * a100.gpu.sm_count * a100.clock.max_mhz * 1e6 / 1e12;
  EXPECT_NEAR(tflops, 312, 0.5);
}

// One line from an idle memory: the L2's part, HBM behind it, and the mean wait for the one page.
TEST(ShippedConfigs, UnloadedDramLatencyIsTheMeasuredOne) {
  const auto dram_ns = [](const HwConfig& c) {
    return c.hbm.latency_ns + c.hbm.page_wait_ns + 1e3 * c.l2.hit_latency_cycles / c.clock.max_mhz;
  };
  const HwConfig h200 = load("h200-sxm-141gb", {}, shipped_dir).config;
  ASSERT_EQ(h200.clock.max_mhz, 1980);
  EXPECT_NEAR(dram_ns(h200) * 1.98, 676, 2) << "cycles";
  EXPECT_NEAR(dram_ns(load("a100-sxm4-80gb", {}, shipped_dir).config), 404, 2);
  EXPECT_NEAR(dram_ns(load("h100-pcie-80gb", {}, shipped_dir).config), 370, 2);
  EXPECT_NEAR(dram_ns(h200), 342, 2);
}

/// Stands for a member of any type while the members of an aggregate are counted.
struct AnyMember {
  template <typename T>
  operator T() const;  // NOLINT(google-explicit-constructor)
};

template <typename T, typename... Members>
constexpr std::size_t member_count(Members... members) {
  if constexpr (requires { T{members..., AnyMember{}}; }) {
    return member_count<T>(members..., AnyMember{});
  } else {
    return sizeof...(members);
  }
}

// The sizes of the groups add up to the table, so a field without a key cannot slip in.
TEST(Schema, HasOneKeyPerField) {
  constexpr std::size_t fields =
      member_count<Gpu>() + member_count<Clock>() + 2 * member_count<TensorShape>() + member_count<Wgmma>() +
      member_count<Bulk>() + member_count<Issue>() + member_count<InstructionCache>() +
      member_count<ConstantCache>() + member_count<Operands>() + 3 * member_count<LanePipe>() +
      member_count<TranscendentalPipe>() + member_count<Mio>() + member_count<SharedMemory>() +
      member_count<Shuffle>() + member_count<Barrier>() + member_count<GlobalAccess>() + member_count<L2>() +
      member_count<Hbm>() + member_count<LaunchCosts>() + member_count<Power>() + member_count<Energy>();
  constexpr std::size_t groups_in_sm =
      15;  // issue, operands, icache, constant, tensor, four lane pipes, mio ... bulk
  constexpr std::size_t groups_in_power = 1;
  EXPECT_EQ(key_specs().size(), fields + member_count<Sm>() - groups_in_sm - groups_in_power);
}

TEST(Schema, EveryKeyHasARangeAndAMeaning) {
  std::set<std::string_view> keys;
  for (const KeySpec& spec : key_specs()) {
    EXPECT_FALSE(spec.meaning.empty()) << spec.key;
    EXPECT_LE(spec.min, spec.max) << spec.key;
    EXPECT_TRUE(keys.insert(spec.key).second) << spec.key;
  }
}

TEST(Schema, NearestKeyIsTheLeastEditedOne) {
  EXPECT_EQ(nearest_key("sm.xu.lane"), "sm.xu.lanes");
  EXPECT_EQ(nearest_key("l2.partition"), "l2.partitions");
}

}  // namespace
}  // namespace warpscope::hw

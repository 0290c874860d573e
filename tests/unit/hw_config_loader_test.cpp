// Inheritance, overrides, origins and the content hash.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <type_traits>

#include "model/hw/config_schema.hpp"
#include "tests/unit/hw_test_support.hpp"

namespace warpscope::hw {
namespace {

using test::ConfigFolder;

const ConfigRow& row(const LoadedConfig& loaded, std::string_view key) {
  return *std::ranges::find(loaded.rows, key, &ConfigRow::key);
}

class ConfigLoader : public testing::Test {
 protected:
  ConfigLoader() { folder_.write("root", root_text_); }

  std::string root_text_ = test::complete_text();
  ConfigFolder folder_;
};

TEST_F(ConfigLoader, DerivedFileOverridesItsBase) {
  folder_.write("middle", "base = \"root\"\n[sm.xu]\nlanes = 8\n[sm.alu]\nlanes = 8\n");
  folder_.write("leaf", "base = \"middle\"\nsm.alu.lanes = 32\n");
  const LoadedConfig leaf = load("leaf", {}, folder_.dir());
  EXPECT_EQ(leaf.config.id, "leaf");
  EXPECT_EQ(leaf.config.sm.xu.lanes, 8);
  EXPECT_EQ(leaf.config.sm.alu.lanes, 32);
  EXPECT_EQ(leaf.config.sm.imad.lanes, 16);
}

TEST_F(ConfigLoader, BaseMayStandAnywhereInTheFile) {
  folder_.write("leaf", "sm.alu.lanes = 32\nbase = \"root\"\n");
  EXPECT_EQ(load("leaf", {}, folder_.dir()).config.sm.alu.lanes, 32);
}

TEST_F(ConfigLoader, RowsNameTheLineThatDecided) {
  folder_.write("leaf", "base = \"root\"\n\n[sm.xu]\nlanes = 8\n");
  const std::vector<std::string> overrides{"sm.fma.lanes=8"};
  const LoadedConfig leaf = load("leaf", overrides, folder_.dir());
  const std::string dir = folder_.dir().string();
  EXPECT_EQ(row(leaf, "sm.xu.lanes").origin, dir + "/leaf.toml:4");
  EXPECT_EQ(row(leaf, "gpu.sm_count").origin,
            dir + "/root.toml:" + test::line_of(root_text_, "gpu.sm_count"));
  EXPECT_EQ(row(leaf, "sm.fma.lanes").origin, "--set sm.fma.lanes=8");
  EXPECT_EQ(row(leaf, "sm.fma.lanes").value, "8");
  EXPECT_EQ(row(leaf, "hbm.peak_gb_per_s").unit, "GB/s");
}

TEST_F(ConfigLoader, RowsComeInSchemaOrder) {
  const LoadedConfig loaded = load("root", {}, folder_.dir());
  EXPECT_TRUE(std::ranges::equal(loaded.rows, key_specs(), {}, &ConfigRow::key, &KeySpec::key));
}

TEST_F(ConfigLoader, LastOverrideWins) {
  const std::vector<std::string> overrides{"sm.xu.lanes=8", "sm.xu.lanes=32", "hbm.peak_gb_per_s=3000",
                                           "gpu.name=My GPU", "gpu.compute_capability=9.0"};
  const HwConfig config = load("root", overrides, folder_.dir()).config;
  EXPECT_EQ(config.sm.xu.lanes, 32);
  EXPECT_EQ(config.hbm.peak_gb_per_s, 3000.0);
  EXPECT_EQ(config.gpu.name, "My GPU");
  EXPECT_EQ(config.gpu.compute_capability, "9.0");
}

TEST_F(ConfigLoader, PathWorksWithBaseInTheSearchDirectory) {
  const ConfigFolder elsewhere;
  elsewhere.write("mine", "base = \"root\"\nsm.xu.lanes = 8\n");
  const std::string path = (elsewhere.dir() / "mine.toml").string();
  EXPECT_EQ(load(path, {}, folder_.dir()).config.sm.xu.lanes, 8);
  EXPECT_EQ(check(path, folder_.dir()), std::vector<std::string>{});
}

TEST_F(ConfigLoader, NeighbourOfAFileComesBeforeTheSearchDirectory) {
  const ConfigFolder elsewhere;
  elsewhere.write("root", test::with(root_text_, "gpu.sm_count", "gpu.sm_count = 64"));
  elsewhere.write("mine", "base = \"root\"\n");
  EXPECT_EQ(load((elsewhere.dir() / "mine.toml").string(), {}, folder_.dir()).config.gpu.sm_count, 64);
}

TEST_F(ConfigLoader, WholeNumbersAreFineWhereFractionsAre) {
  folder_.write("leaf", "base = \"root\"\nhbm.read_efficiency = 1\n");
  EXPECT_EQ(load("leaf", {}, folder_.dir()).config.hbm.read_efficiency, 1.0);
}

TEST_F(ConfigLoader, ListIgnoresOtherFiles) {
  std::ofstream(folder_.dir() / "README.md") << "text";
  std::filesystem::create_directory(folder_.dir() / "folder.toml");
  EXPECT_EQ(list_configs(folder_.dir()), std::vector<std::string>{"root"});
}

TEST_F(ConfigLoader, HashIgnoresHowAValueWasWritten) {
  const std::string hash = content_hash(load("root", {}, folder_.dir()).config);
  folder_.write("leaf", "base = \"root\"\nsm.xu.lanes = 0x4 # four\n");
  EXPECT_EQ(content_hash(load("leaf", {}, folder_.dir()).config), hash);
  EXPECT_EQ(hash.size(), 32U);
}

TEST_F(ConfigLoader, HashChangesWithEveryKey) {
  HwConfig config = load("root", {}, folder_.dir()).config;
  const std::string hash = content_hash(config);
  for (const KeySpec& spec : key_specs()) {
    HwConfig changed = config;
    const auto change = [](auto* field) {
      if constexpr (std::is_arithmetic_v<std::remove_pointer_t<decltype(field)>>) {
        *field = *field == 0 ? 1 : 2 * *field;
      } else {
        *field += *field;
      }
    };
    std::visit(change, spec.field(changed));
    EXPECT_NE(content_hash(changed), hash) << spec.key;
  }
  EXPECT_EQ(content_hash(config), hash);
}

}  // namespace
}  // namespace warpscope::hw

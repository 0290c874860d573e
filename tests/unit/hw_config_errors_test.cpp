// Every kind of mistake in a GPU description, and the line it must be answered with.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <ostream>

#include "model/hw/config_bounds.hpp"
#include "tests/unit/hw_test_support.hpp"

namespace warpscope::hw {
namespace {

using test::ConfigFolder;
using Lines = std::vector<std::string>;

/// A wrong value in a complete description, and what is answered behind "FILE:LINE: ".
struct Mistake {
  std::string name;
  std::string key;
  std::string value;  ///< as written in the file
  std::string answer;
};

void PrintTo(const Mistake& mistake, std::ostream* out) {
  *out << mistake.value;
}

class ConfigMistakes : public testing::TestWithParam<Mistake> {
 protected:
  std::string root_text_ = test::complete_text();
  ConfigFolder folder_;
};

TEST_P(ConfigMistakes, InAFileNamesFileLineKeyValueAndWhatIsLegal) {
  const auto& [name, key, value, answer] = GetParam();
  folder_.write("bad", test::with(root_text_, key, key + " = " + value));
  EXPECT_EQ(folder_.problems("bad"), Lines{"bad.toml:" + test::line_of(root_text_, key) + ": " + answer});
}

INSTANTIATE_TEST_SUITE_P(
    Values, ConfigMistakes,
    testing::Values(
        Mistake{"TooSmall", "l2.partitions", "0", "l2.partitions: 0 is not in 1..8"},
        Mistake{"TooLarge", "l2.partitions", "9", "l2.partitions: 9 is not in 1..8"},
        Mistake{"BeyondInt", "l2.partitions", "4294967298", "l2.partitions: 4294967298 is not in 1..8"},
        Mistake{"Fraction", "l2.partitions", "2.5", "l2.partitions: 2.5 is not an integer"},
        Mistake{"TextForInteger", "l2.partitions", "\"two\"", "l2.partitions: \"two\" is not an integer"},
        Mistake{"TruthForInteger", "l2.partitions", "true", "l2.partitions: true is not an integer"},
        Mistake{"ArrayForInteger", "l2.partitions", "[1, 2]", "l2.partitions: an array is not an integer"},
        Mistake{"DateForNumber", "hbm.latency_ns", "2020-01-01",
                "hbm.latency_ns: a date or time is not a number"},
        Mistake{"FractionOutOfRange", "hbm.mixed_efficiency", "1.01",
                "hbm.mixed_efficiency: 1.01 is not in 0.1..1"},
        Mistake{"NotANumber", "hbm.mixed_efficiency", "nan", "hbm.mixed_efficiency: nan is not in 0.1..1"},
        Mistake{"Infinite", "hbm.latency_ns", "inf", "hbm.latency_ns: inf is not in 0..100000"},
        Mistake{"NumberForText", "gpu.compute_capability", "8.0",
                "gpu.compute_capability: 8 is not a text in quotes"},
        Mistake{"QueueBeyondTheModel", "sm.mio.queue_entries", "17",
                "sm.mio.queue_entries: 17 is not in 1..16"},
        Mistake{"NoQueue", "sm.mio.queue_entries", "0", "sm.mio.queue_entries: 0 is not in 1..16"},
        Mistake{"SubCoresBeyondTheModel", "sm.sub_cores", "5", "sm.sub_cores: 5 is not in 1..4"},
        Mistake{"WarpsBeyondTheModel", "sm.max_warps", "68", "sm.max_warps: 68 is not in 1..64"},
        Mistake{"CtasBeyondTheModel", "sm.max_ctas", "33", "sm.max_ctas: 33 is not in 1..32"},
        Mistake{"TensorIntervalBeyondTheModel", "sm.tensor.hmma_1688.interval_cycles", "1001",
                "sm.tensor.hmma_1688.interval_cycles: 1001 is not in 1..1000"},
        Mistake{"CacheBeyondTheModel", "l2.capacity_bytes", "1073741825",
                "l2.capacity_bytes: 1073741825 is not in 1..1073741824"},
        Mistake{"ControlCharacter", "gpu.name", "\"a\\u001b[2J\"",
                "gpu.name: contains control character \\x1b; legal is printable text"},
        Mistake{"LineBreak", "gpu.name", "\"a\\n\"",
                "gpu.name: contains control character \\x0a; legal is printable text"},
        Mistake{"SecondControlRange", "gpu.name", "\"\\u009b2J\"",
                "gpu.name: contains control character \\x9b; legal is printable text"},
        Mistake{"EmptyText", "gpu.name", "\"\"", "gpu.name: must not be empty"}),
    [](const auto& instance) { return instance.param.name; });

INSTANTIATE_TEST_SUITE_P(
    BetweenValues, ConfigMistakes,
    testing::Values(
        Mistake{"Lanes", "sm.xu.lanes", "5", "sm.xu.lanes: 5 does not divide the 32 threads of a warp"},
        Mistake{"SharedOfOneCta", "sm.shared.bytes_per_cta", "167937",
                "sm.shared.bytes_per_cta: 167937 is more than sm.shared.bytes (167936)"},
        Mistake{"SharedWithReserve", "sm.shared.bytes_per_cta", "166913",
                "sm.shared.bytes_per_cta: 166913 with sm.shared.reserved_bytes_per_cta is 167937, more than "
                "sm.shared.bytes (167936)"},
        Mistake{"TensorClock", "clock.tensor_mhz", "1411",
                "clock.tensor_mhz: 1411 is more than clock.max_mhz (1410)"},
        Mistake{"Warps", "sm.max_warps", "63", "sm.max_warps: 63 is not a multiple of sm.sub_cores (4)"},
        Mistake{"Threads", "sm.max_threads_per_cta", "2049",
                "sm.max_threads_per_cta: 2049 is more than 32 x sm.max_warps (2048)"},
        Mistake{"FewInstructionLines", "sm.icache.l0_bytes", "896",
                "sm.icache.l0_bytes: 896 is not 8 to 1024 x sm.icache.line_bytes (128)"},
        Mistake{"Capability", "gpu.compute_capability", "\"80\"",
                "gpu.compute_capability: \"80\" is not of the form \"9.0\""}),
    [](const auto& instance) { return instance.param.name; });

class ConfigErrors : public testing::Test {
 protected:
  ConfigErrors() { folder_.write("root", root_text_); }

  std::string root_text_ = test::complete_text();
  ConfigFolder folder_;
};

TEST_F(ConfigErrors, InstructionLinesBeyondTheModelAreRefused) {
  const std::string roomy = test::with(root_text_, "sm.icache.l1_bytes", "sm.icache.l1_bytes = 262144");
  const std::string key = "sm.icache.l0_bytes";
  folder_.write("most", test::with(roomy, key, key + " = 131072"));
  EXPECT_EQ(folder_.problems("most"), Lines{});
  folder_.write("bad", test::with(roomy, key, key + " = 131200"));
  EXPECT_EQ(folder_.problems("bad"),
            Lines{"bad.toml:" + test::line_of(roomy, key) +
                  ": sm.icache.l0_bytes: 131200 is not 8 to 1024 x sm.icache.line_bytes (128)"});
}

TEST_F(ConfigErrors, UnknownKeysNameTheNearestLegalOne) {
  folder_.write("bad", "base = \"root\"\nsm.xu.lane = 4\n[l2]\npartition = 2\n[unknown]\n");
  EXPECT_EQ(folder_.problems("bad"),
            (Lines{"bad.toml:2: sm.xu.lane: unknown key; the nearest legal key is sm.xu.lanes",
                   "bad.toml:4: l2.partition: unknown key; the nearest legal key is l2.partitions",
                   "bad.toml:5: unknown: unknown key; the nearest legal key is gpu.name"}));
}

TEST_F(ConfigErrors, GroupAndValueCannotStandForOneAnother) {
  folder_.write("bad", "base = \"root\"\nhbm = 4\n[sm.xu.lanes]\n[l2.partitions.x]\n");
  EXPECT_EQ(folder_.problems("bad"),
            (Lines{"bad.toml:2: hbm: unknown key; the nearest legal key is hbm.peak_gb_per_s",
                   "bad.toml:3: sm.xu.lanes: a table is not an integer",
                   "bad.toml:4: l2.partitions.x: unknown key; the nearest legal key is l2.partitions"}));
}

TEST_F(ConfigErrors, MissingKeysAreAllNamed) {
  std::string text = test::with(root_text_, "gpu.sm_count", "");
  folder_.write("bad", test::with(text, "l2.partitions", ""));
  EXPECT_EQ(folder_.problems("bad"), (Lines{"bad.toml: gpu.sm_count: missing; legal is 1..1024",
                                            "bad.toml: l2.partitions: missing; legal is 1..8"}));
}

TEST_F(ConfigErrors, AnOverrideSuppliesAMissingKey) {
  folder_.write("bad", test::with(root_text_, "gpu.sm_count", ""));
  EXPECT_EQ(folder_.problems("bad", {"gpu.sm_count=108"}), Lines{});
}

TEST_F(ConfigErrors, MistakesOfFilesAndOverridesAreReportedTogether) {
  folder_.write("middle", "base = \"root\"\nsm.xu.lanes = 0\n");
  folder_.write("bad", "base = \"middle\"\nsm.fma.lanes = 64\n");
  EXPECT_EQ(
      folder_.problems("bad", {"l2.partitions=0"}),
      (Lines{"middle.toml:2: sm.xu.lanes: 0 is not in 1..32", "bad.toml:2: sm.fma.lanes: 64 is not in 1..32",
             "--set l2.partitions=0: 0 is not in 1..8"}));
}

TEST_F(ConfigErrors, Overrides) {
  EXPECT_EQ(folder_.problems("root", {"sm.xu.lane=3"}),
            Lines{"--set sm.xu.lane=3: unknown key; the nearest legal key is sm.xu.lanes"});
  EXPECT_EQ(folder_.problems("root", {"sm.xu.lanes"}), Lines{"--set sm.xu.lanes: not of the form key=value"});
  EXPECT_EQ(folder_.problems("root", {"=3"}), Lines{"--set =3: not of the form key=value"});
  EXPECT_EQ(folder_.problems("root", {""}), Lines{"--set : not of the form key=value"});
  EXPECT_EQ(folder_.problems("root", {"sm.xu.lanes="}), Lines{"--set sm.xu.lanes=: \"\" is not an integer"});
  EXPECT_EQ(folder_.problems("root", {"sm.xu.lanes=4x"}),
            Lines{"--set sm.xu.lanes=4x: \"4x\" is not an integer"});
  EXPECT_EQ(folder_.problems("root", {"sm.xu.lanes=4.0"}),
            Lines{"--set sm.xu.lanes=4.0: 4 is not an integer"});
  EXPECT_EQ(folder_.problems("root", {"hbm.latency_ns=fast"}),
            Lines{"--set hbm.latency_ns=fast: \"fast\" is not a number"});
  EXPECT_EQ(folder_.problems("root", {"hbm.latency_ns=nan"}),
            Lines{"--set hbm.latency_ns=nan: nan is not in 0..100000"});
  EXPECT_EQ(folder_.problems("root", {"base=other"}),
            Lines{"--set base=other: unknown key; the nearest legal key is gpu.name"});
  EXPECT_EQ(folder_.problems("root", {"sm.xu.lanes=5"}),
            Lines{"--set sm.xu.lanes=5: 5 does not divide the 32 threads of a warp"});
}

// The state of a sub-core has room for 16 warps.
TEST_F(ConfigErrors, WarpsMustFitIntoTheSubCores) {
  EXPECT_EQ(folder_.problems("root", {"sm.sub_cores=2"}),
            Lines{"root.toml:" + test::line_of(root_text_, "sm.max_warps") +
                  ": sm.max_warps: 64 is more than 16 x sm.sub_cores (32)"});
  EXPECT_EQ(folder_.problems("root", {"sm.sub_cores=2", "sm.max_warps=32"}), Lines{});
}

TEST_F(ConfigErrors, MalformedTomlNamesFileAndLine) {
  folder_.write("bad", "base = \"root\"\n[sm.xu]\nlanes = \n");
  const Lines problems = folder_.problems("bad");
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_TRUE(problems[0].starts_with("bad.toml:3: ")) << problems[0];
}

TEST_F(ConfigErrors, DuplicateKeyNamesItsLine) {
  folder_.write("bad", "base = \"root\"\n[sm.xu]\nlanes = 4\nlanes = 8\n");
  const Lines problems = folder_.problems("bad");
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_TRUE(problems[0].starts_with("bad.toml:4: ")) << problems[0];
}

TEST_F(ConfigErrors, Bases) {
  folder_.write("absent", "\nbase = \"nowhere\"\n");
  EXPECT_EQ(folder_.problems("absent"), Lines{"absent.toml:2: base: no file nowhere.toml"});
  folder_.write("number", "base = 3\n");
  EXPECT_EQ(folder_.problems("number"), Lines{"number.toml:1: base: 3 is not a text in quotes"});
  folder_.write("self", "base = \"self\"\n");
  EXPECT_EQ(folder_.problems("self"), Lines{"self.toml:1: base: \"self\" is based on this file in turn"});
  folder_.write("first", "base = \"second\"\n");
  folder_.write("second", "base = \"first\"\n");
  EXPECT_EQ(folder_.problems("first"), Lines{"second.toml:1: base: \"first\" is based on this file in turn"});
}

TEST_F(ConfigErrors, TextOfOverridesIsPrintable) {
  EXPECT_EQ(folder_.problems("root", {"gpu.name=a\x1b[31m"}),
            Lines{"--set gpu.name=a [31m: contains control character \\x1b; legal is printable text"});
  EXPECT_EQ(folder_.problems("root", {"gpu.name=a\xff"}).size(), 1U);
  EXPECT_EQ(folder_.problems("root", {"gpu.name=\xc3"}).size(), 1U) << "the second byte is missing";
  EXPECT_EQ(folder_.problems("root", {"gpu.name=\xed\xa0\x80"}).size(), 1U) << "a surrogate";
  EXPECT_EQ(folder_.problems("root", {"gpu.name=Grafikkarte \xc3\xbc, \xe2\x82\xac 5"}), Lines{});
}

TEST_F(ConfigErrors, ChainsOfBasesAreBounded) {
  for (int file = 0; file < 15; ++file) {
    const std::string base = file == 0 ? "root" : fmt::format("b{}", file - 1);
    folder_.write(fmt::format("b{}", file), fmt::format("base = \"{}\"\n", base));
  }
  EXPECT_EQ(folder_.problems("b14"), Lines{});
  folder_.write("top", "base = \"b14\"\n");
  EXPECT_EQ(folder_.problems("top"),
            Lines{"b0.toml:1: base: \"root\" would be file 17 of a chain; legal is at most 16"});
}

TEST_F(ConfigErrors, FilesAreBounded) {
  const std::string comment(most_file_bytes - root_text_.size() - 1, '#');
  folder_.write("large", root_text_ + comment + "\n");
  EXPECT_EQ(folder_.problems("large"), Lines{});
  folder_.write("large", root_text_ + comment + "#\n");
  EXPECT_EQ(folder_.problems("large"), Lines{"large.toml: more than 1048576 bytes; legal is at most that"});
}

TEST_F(ConfigErrors, UnknownNamesListTheKnownOnes) {
  folder_.write("alpha", "");
  EXPECT_EQ(folder_.problems("h300"), Lines{"unknown GPU \"h300\"; known are alpha, root"});
  EXPECT_EQ(folder_.problems("no/such.toml"), Lines{"no/such.toml: cannot be read"});
  EXPECT_EQ(folder_.problems(""), Lines{"unknown GPU \"\"; known are alpha, root"});
}

TEST_F(ConfigErrors, DirectoriesAreNotFiles) {
  std::filesystem::create_directory(folder_.dir() / "dir.toml");
  EXPECT_EQ(folder_.problems("dir"), Lines{"dir.toml: cannot be read"});
  EXPECT_THROW(list_configs(folder_.dir() / "absent"), ConfigError);
}

TEST_F(ConfigErrors, WhatHasOneLinePerProblem) {
  EXPECT_STREQ(ConfigError({"first", "second"}).what(), "first\nsecond");
}

TEST_F(ConfigErrors, MessagesStayOnOneLineOfBoundedLength) {
  folder_.write("bad", "base = \"root\"\ngpu.sm_count = \"a\\nb" + std::string(5000, 'c') + "\"\n");
  const Lines problems = folder_.problems("bad");
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_LT(problems[0].size(), 200U);
  EXPECT_EQ(problems[0].find('\n'), std::string::npos);
}

}  // namespace
}  // namespace warpscope::hw

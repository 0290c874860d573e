// Shapes that FlashAttention-2's library runs otherwise say so.
#include "kernels/fa2/key_splits.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"

namespace warpscope::kernels::fa2 {
namespace {

TEST(LibrarySplits, AreTheFewestThatFillWavesNearlyBest) {
  // The example in the source: 48 tiles on 108 SMs are 0.89 full with 2 splits, 0.67 with 3.
  EXPECT_EQ(splits_of_tiles(48, 108, 64), 2);
  EXPECT_EQ(splits_of_tiles(87, 108, 64), 1) << "0.8 x 108 is 86.4: full enough";
  EXPECT_EQ(splits_of_tiles(86, 108, 64), 5) << "0.995 full, with fewer 0.796";
  EXPECT_EQ(splits_of_tiles(1, 264, 64), 64);
  EXPECT_EQ(splits_of_tiles(1, 264, 1), 1) << "one block of keys cannot be split";
  EXPECT_EQ(splits_of_tiles(1, 1000, 1000), 112) << "107 to 111 make no smaller parts";
}

TEST(LibrarySplits, CountTilesOfTheSplitKernel) {
  Problem problem{1, 32, 32, 1, 8192, 128, false};
  problem.num_splits = kAutoSplits;
  // 32 tiles on 264 slots, 64 blocks of 128 keys: 7 x 32 are 0.85 of a wave, the best is 0.97 with 8.
  EXPECT_EQ(key_splits(problem, 132), 7);
  EXPECT_FALSE(groups_heads(problem));
  problem.heads_kv = 8;
  EXPECT_TRUE(groups_heads(problem));
  EXPECT_EQ(key_splits(problem, 132), splits_of_tiles(8, 264, 64));
  problem.seqlen_q = 4096;
  EXPECT_FALSE(groups_heads(problem));
  EXPECT_EQ(key_splits(problem, 132), 1);
  problem.num_splits = 5;
  EXPECT_EQ(key_splits(problem, 132), 5);
}

TEST(CliRun, NotesWhereTheLibraryWouldSplit) {
  const cli_test::TemporaryDirectory directory;
  const auto notes = [&](const std::string& kernel, const std::string& queries,
                         const std::string& splits = "1") {
    const auto result = cli_test::run_program(
        {"run",     "--gpu",        "h100-sxm5-80gb", "--kernel", kernel,       "--batch",  "1",
         "--heads", "32",           "--seqlen",       queries,    "--seqlen-k", "8192",     "--head-dim",
         "128",     "--num-splits", splits,           "--json",   "-",          "--report", "report.txt"},
        directory.path());
    EXPECT_EQ(result.status, 0) << result.err;
    return nlohmann::json::parse(result.out)["notes"].dump();
  };
  EXPECT_NE(notes("fa2", "1").find("splitting the keys 7 ways"), std::string::npos);
  EXPECT_NE(cli_test::file_text(directory / "report.txt").find("split-KV"), std::string::npos);
  EXPECT_EQ(notes("fa2", "512").find("split"), std::string::npos) << "256 tiles fill 0.97 of the slots";
  EXPECT_EQ(notes("fa1", "1").find("split"), std::string::npos);
  EXPECT_EQ(notes("fa2", "1", "auto").find("split"), std::string::npos);
}

}  // namespace
}  // namespace warpscope::kernels::fa2

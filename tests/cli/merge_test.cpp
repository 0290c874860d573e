// Sweeps in shards, and `warpscope merge`.
#include <gtest/gtest.h>

#include "experiments/store/model_version.hpp"
#include "experiments/store/result_store.hpp"
#include "tests/cli/sweep_files.hpp"

namespace warpscope::cli_test {
namespace {

using experiments::ResultStore;

/// Fourteen rows: points, one of them twice, and two that cannot be.
class Merge : public testing::Test {
 protected:
  Merge() {
    write_text(directory_ / "points.csv",
               small_points(11) + "fa9,fwd,1,1,64,64\nfa2,fwd,1,1,16,32\nfa2,fwd,1,1,64,250\n");
  }

  ProgramResult program(const Arguments& arguments) { return run_program(arguments, directory_.path()); }
  void run_shard(const std::string& shard, const Arguments& more = {}) {
    Arguments arguments = sweep_of_points({"--shard", shard, "-j", "1"});
    arguments.insert(arguments.end(), more.begin(), more.end());
    const int status = program(arguments).status;
    EXPECT_TRUE(status == 0 || status == 3) << status;
  }
  ProgramResult merge(const Arguments& stores) {
    Arguments arguments = sweep_of_points(stores);
    arguments[0] = "merge";
    return program(arguments);
  }
  std::string output() { return file_text(directory_ / "out.csv"); }

  TemporaryDirectory directory_;
};

TEST_F(Merge, GivesTheBytesOfTheUndividedSweep) {
  ASSERT_EQ(program(sweep_of_points({"--json", "out.json"})).status, 3);
  const std::string csv = output();
  const std::string json = file_text(directory_ / "out.json");
  std::filesystem::remove(directory_ / "out.csv");
  for (const char* shard : {"1/3", "2/3", "3/3"}) {
    run_shard(shard);
  }
  EXPECT_EQ(directory_.files(), (std::vector<std::string>{"out.csv.1-of-3.store", "out.csv.2-of-3.store",
                                                          "out.csv.3-of-3.store", "out.json", "points.csv"}));
  const ProgramResult result =
      merge({"--json", "out.json", "out.csv.3-of-3.store", "out.csv.1-of-3.store", "out.csv.2-of-3.store"});
  EXPECT_EQ(result.status, 3);
  EXPECT_EQ(result.err,
            "warpscope: 2 of 14 points could not be simulated; column model_error of out.csv says why\n");
  EXPECT_EQ(output(), csv);
  EXPECT_EQ(file_text(directory_ / "out.json"), json);
}

TEST_F(Merge, NamesThePointsThatAreMissing) {
  run_shard("1/2");
  const ProgramResult result = merge({"out.csv.1-of-2.store"});
  EXPECT_EQ(result.status, 2);
  EXPECT_EQ(result.err,
            "warpscope: points.csv: 7 of 14 points are in no store, those of lines 2, 4, 6, 8, 10, 12, 14; "
            "was each "
            "shard run to its end, with the same --gpu, --set, --mode and --l2?\n");
  EXPECT_FALSE(std::filesystem::exists(directory_ / "out.csv"));
}

TEST_F(Merge, SaysWhatOverlaps) {
  run_shard("1/1", {"--store", "all"});
  run_shard("1/2", {"--store", "half"});
  const ProgramResult same = merge({"all", "half"});
  EXPECT_EQ(same.status, 3);
  EXPECT_TRUE(same.err.starts_with(
      "warpscope: 6 of 12 points are in more than one store, with the same results; all and half overlap\n"))
      << same.err;
  const std::string csv = output();
  change_results(directory_ / "half", "cycles", 1);
  const ProgramResult differ = merge({"all", "half"});
  EXPECT_EQ(differ.status, 2);
  EXPECT_TRUE(differ.err.starts_with("warpscope: all and half have different results for fa")) << differ.err;
  EXPECT_EQ(output(), csv);
}

TEST_F(Merge, RefusesStoresThatItCannotUse) {
  run_shard("1/1", {"--store", "all"});
  EXPECT_EQ(merge({"all", "./all"}).err, "warpscope: ./all: named twice; each store is legal once\n");
  EXPECT_EQ(merge({"none"}).err, "warpscope: none: cannot be opened: unable to open database file\n");
  ResultStore(directory_ / "old", ResultStore::Use::fresh, "0.0").put("k", "p", {});
  EXPECT_EQ(merge({"all", "old"}).err, "warpscope: old: holds results of model 0.0, this is model " +
                                           experiments::model_version() +
                                           "; delete the file, or name another\n");
  write_text(directory_ / "torn", file_text(directory_ / "all").substr(0, 6000));
  const ProgramResult torn = merge({"torn"});
  EXPECT_EQ(torn.status, 2);
  EXPECT_TRUE(torn.err.starts_with("warpscope: torn: is damaged (")) << torn.err;
  EXPECT_FALSE(std::filesystem::exists(directory_ / "out.csv"));
}

TEST_F(Merge, LeavesOutWhatWasAltered) {
  run_shard("1/1", {"--store", "all"});
  experiments::Database(directory_ / "all", experiments::Database::Access::write)
      .run("UPDATE points SET text = '' WHERE rowid = 1");
  const ProgramResult result = merge({"all"});
  EXPECT_EQ(result.status, 2);
  EXPECT_TRUE(
      result.err.starts_with("warpscope: all: 1 of 12 results do not match their checksums, so they "
                             "were altered or damaged; they are left out\nwarpscope: points.csv: 1 "
                             "of 14 points are in no store"))
      << result.err;
}

TEST_F(Merge, KnowsWhichShardsThereAre) {
  for (const char* shard : {"0/2", "3/2", "1", "1/", "/2", "a/b", "1/2/3", "-1/2", "1/9999999"}) {
    const ProgramResult result = program(sweep_of_points({"--shard", shard}));
    EXPECT_EQ(result.status, 2);
    EXPECT_EQ(result.err, "warpscope: --shard '" + std::string(shard) +
                              "': legal is i/n, share i of n with i from 1 to n and n up to 1000000\n");
  }
}

}  // namespace
}  // namespace warpscope::cli_test

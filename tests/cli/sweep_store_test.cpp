// What is left of a sweep that was interrupted or has ended, and what the next one makes of it.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <thread>

#include "experiments/base/usage_error.hpp"
#include "tests/cli/sweep_store.hpp"

namespace warpscope::cli_test {
namespace {

using experiments::FileError;

TEST_F(SweepStore, KilledTwentyTimesGivesTheSameFile) {
  using Clock = std::chrono::steady_clock;
  write_text(directory_ / "points.csv", small_points(60));
  const Clock::time_point start = Clock::now();
  ASSERT_EQ(sweep({"-j", "2"}).status, 0);
  const std::chrono::duration<double> whole = Clock::now() - start;
  const std::string undisturbed = output();
  std::filesystem::remove(directory_ / "out.csv");

  std::mt19937 random(2024);
  std::uniform_real_distribution<double> fraction(0.0, 0.3);
  std::size_t before = 0;
  std::size_t most = 0;
  for (int round = 0; round < 20; ++round) {
    RunningProgram program(warpscope(sweep_of_points({"--resume", "-j", "2"})), directory_.path());
    std::this_thread::sleep_for(fraction(random) * whole);
    ::kill(program.process(), SIGKILL);
    program.wait();
    if (std::filesystem::exists(directory_ / "out.csv")) {
      // The kill came behind the end. Another round from the start.
      EXPECT_EQ(output(), undisturbed);
      std::filesystem::remove(directory_ / "out.csv");
      // The kill may have come while the store was being closed, with its log still there.
      std::filesystem::remove(directory_ / "out.csv.store-wal");
      std::filesystem::remove(directory_ / "out.csv.store");
      before = 0;
    } else if (std::filesystem::exists(directory_ / "out.csv.store-wal")) {
      std::size_t now = 0;
      try {
        now = stored();
      } catch (const FileError&) {
        // The kill came before the first table of the store.
      }
      EXPECT_GE(now, before) << "round " << round << " lost points";
      most = std::max(most, before = now);
    }
  }
  EXPECT_GT(most, 0U) << "every kill came before the first point";
  ASSERT_EQ(sweep({"--resume", "-j", "2"}).status, 0);
  EXPECT_EQ(output(), undisturbed);
  EXPECT_EQ(directory_.files(), (Names{"out.csv", "points.csv"}));
}

TEST_F(SweepStore, AWorkerThatIsKilledCostsOnePoint) {
  const std::string slow = "fa2,fwd,1,16,512,128";
  write_text(directory_ / "points.csv",
             kPointsHeader + "\nfa2,fwd,1,1,64,64\n" + slow + "\nfa2,fwd,1,1,65,64\n");
  const Arguments detailed = {"--mode", "detailed", "-j", "1"};
  RunningProgram program(warpscope(sweep_of_points(detailed)), directory_.path());
  std::vector<pid_t> workers;
  while (workers.empty() && !program.has_ended()) {
    workers = program.children();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  ASSERT_EQ(workers.size(), 1U);
  ::kill(workers[0], SIGKILL);  // at the slow point: the most expensive comes first
  const ProgramResult result = program.wait();
  EXPECT_EQ(result.status, 3);
  EXPECT_EQ(result.err,
            "warpscope: 1 of 3 points could not be simulated; column model_error of out.csv says why\n");
  EXPECT_NE(output().find('\n' + slow + ",,,,,,the worker process was ended by signal 9 (Killed)\n"),
            std::string::npos)
      << output();
  // What was done is kept, what died is tried again.
  EXPECT_EQ(stored(), 3U);
  mark("out.csv.store");
  Arguments resume = detailed;
  resume.emplace_back("--resume");
  EXPECT_EQ(sweep(resume).status, 0);
  EXPECT_EQ(output().find("signal"), std::string::npos);
  EXPECT_EQ(marked(), 2U);
  EXPECT_EQ(directory_.files(), (Names{"out.csv", "points.csv"}));
}

TEST_F(SweepStore, KnownPointsAreNotSimulatedAgain) {
  write_text(directory_ / "points.csv", small_points(4));
  ASSERT_EQ(sweep({"--store", "mine"}).status, 0);
  EXPECT_EQ(stored("mine"), 4U);
  mark("mine");
  ASSERT_EQ(sweep({"--store", "mine"}).status, 0);
  EXPECT_EQ(marked(), 4U);
  EXPECT_EQ(directory_.files(), (Names{"mine", "out.csv", "points.csv"}));
}

TEST_F(SweepStore, ARowThatComesTwiceIsSimulatedOnce) {
  write_text(directory_ / "points.csv",
             "note," + kPointsHeader +
                 ",dtype\na,fa2,fwd,1,1,32,32,\nb, fa2,fwd,1,1,32,32,fp16\nc,fa2,fwd,1,1,32,32,bf16\n");
  ASSERT_EQ(sweep({"--store", "mine"}).status, 0);
  EXPECT_EQ(stored("mine"), 2U);
}

TEST_F(SweepStore, WithoutResumeNothingIsDiscarded) {
  write_text(directory_ / "points.csv", small_points(2));
  ASSERT_EQ(sweep({"--store", "out.csv.store"}).status, 0);
  mark("out.csv.store");
  const ProgramResult refused = sweep();
  EXPECT_EQ(refused.status, 2);
  EXPECT_EQ(refused.err,
            "warpscope: out.csv.store: holds 2 finished points of an earlier run; go on from there with "
            "--resume, or delete the file to start anew\n");
  ASSERT_EQ(sweep({"--resume"}).status, 0);
  EXPECT_EQ(marked(), 2U);
}

TEST_F(SweepStore, IsKeptOnlyWhereAnotherTryMayHelp) {
  write_text(directory_ / "points.csv", small_points(2) + "fa9,fwd,1,1,64,64\nfa2,fwd,1,1,64,250\n");
  ASSERT_EQ(sweep().status, 3);
  EXPECT_EQ(directory_.files(), (Names{"out.csv", "points.csv"}));
  write_text(directory_ / "points.csv", kPointsHeader + "\nfa2,fwd,1,16,512,128\n");
  ASSERT_EQ(sweep({"--mode", "detailed", "--timeout", "0.001"}).status, 3);
  EXPECT_NE(output().find("took longer than the time limit of 0.001 s"), std::string::npos) << output();
  EXPECT_EQ(directory_.files(), (Names{"out.csv", "out.csv.store", "points.csv"}));
  ASSERT_EQ(sweep({"--mode", "detailed"}).status, 0) << "what died is no result that could be lost";
  EXPECT_EQ(output().find("time limit"), std::string::npos) << output();
}

TEST_F(SweepStore, WhatAMachineLackedIsTriedAgain) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer needs more memory than any limit allows";
#endif
  write_text(directory_ / "points.csv", kPointsHeader + ",seqlen_k\nstandard,fwd,1,1,1,64,1048576\n");
  const Arguments large_l2 = {"-j", "1", "--set", "l2.capacity_bytes=1000000000", "--set", "l2.ways=1"};
  Arguments shell = warpscope(sweep_of_points(large_l2));
  shell.insert(shell.begin(), {"sh", "-c", "ulimit -v 100000; exec \"$0\" \"$@\""});
  EXPECT_EQ(run(shell, directory_.path()).status, 3);
  EXPECT_NE(output().find(",out of memory\n"), std::string::npos) << output();
  Arguments resume = large_l2;
  resume.emplace_back("--resume");
  ASSERT_EQ(sweep(resume).status, 0);
  const std::string resumed = output();
  ASSERT_EQ(sweep(large_l2).status, 0);
  EXPECT_EQ(output(), resumed);
}

TEST_F(SweepStore, AlteredResultsAreSimulatedAgain) {
  write_text(directory_ / "points.csv", small_points(3));
  ASSERT_EQ(sweep({"--store", "mine"}).status, 0);
  const std::string whole = output();
  experiments::Database(directory_ / "mine", experiments::Database::Access::write)
      .run("UPDATE points SET text = 'no JSON' WHERE rowid = 1");
  experiments::Database(directory_ / "mine", experiments::Database::Access::write)
      .run("UPDATE points SET text = json_set(text, '$.cycles', 1.9e19) WHERE rowid = 2");
  const ProgramResult again = sweep({"--store", "mine"});
  EXPECT_EQ(again.status, 0);
  EXPECT_EQ(again.err,
            "warpscope: mine: 2 of 3 results do not match their checksums, so they were altered or damaged; "
            "they are simulated again\n");
  EXPECT_EQ(output(), whole);
}

TEST_F(SweepStore, NothingIsDoneAfterTheEnd) {
  write_text(directory_ / "points.csv", small_points(2));
  const Arguments json = {"--json", "out.json"};
  ASSERT_EQ(sweep(json).status, 0);
  if (::getxattr((directory_ / "out.csv").c_str(), "user.warpscope.sweep", nullptr, 0) < 0) {
    GTEST_SKIP() << "the file system has no extended attributes";
  }
  const auto inode = [&] {
    struct stat status {};
    EXPECT_EQ(::stat((directory_ / "out.csv").c_str(), &status), 0);
    return status.st_ino;
  };
  const auto resume = [&](const Arguments& more = {}) {
    Arguments arguments = {"--resume", "--json", "out.json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return sweep(arguments);
  };
  const auto before = inode();
  const ProgramResult again = resume();
  EXPECT_EQ(again.status, 0);
  EXPECT_EQ(again.err, "warpscope: out.csv: the sweep is finished, nothing to do\n");
  EXPECT_EQ(inode(), before) << "an output that is written anew is another file";
  EXPECT_EQ(directory_.files(), (Names{"out.csv", "out.json", "points.csv"}));

  EXPECT_EQ(resume({"--set", "sm.xu.lanes=8"}).err, "") << "another GPU, so other results";
  EXPECT_NE(inode(), before);
  const std::string other = output();
  write_text(directory_ / "out.csv", other + "changed\n");
  EXPECT_EQ(resume({"--set", "sm.xu.lanes=8"}).err, "") << "an output that somebody changed";
  EXPECT_EQ(output(), other);
  write_text(directory_ / "out.json", "changed\n");
  EXPECT_EQ(resume({"--set", "sm.xu.lanes=8"}).err, "");
  EXPECT_NE(file_text(directory_ / "out.json"), "changed\n");
  write_text(directory_ / "points.csv", small_points(3));
  EXPECT_EQ(resume({"--set", "sm.xu.lanes=8"}).err, "") << "another point";
}

TEST_F(SweepStore, AFinishedSweepKeepsItsExitStatus) {
  write_text(directory_ / "points.csv", small_points(1) + "fa9,fwd,1,1,64,64\n");
  ASSERT_EQ(sweep().status, 3);
  const ProgramResult again = sweep({"--resume"});
  EXPECT_EQ(again.status, 3);
  EXPECT_NE(again.err.find("1 of 2 points could not be simulated"), std::string::npos) << again.err;
}

}  // namespace
}  // namespace warpscope::cli_test

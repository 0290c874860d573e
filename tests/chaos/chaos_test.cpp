// Sweeps to which bad things happen: in the end the bytes are those of an undisturbed one, or the exit status
// says otherwise and nothing that was done is lost. WARPSCOPE_CHAOS_ROUNDS says how often each kind of
// disaster strikes.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <chrono>
#include <cstdlib>
#include <random>
#include <thread>

#include "experiments/base/usage_error.hpp"
#include "tests/cli/sweep_files.hpp"

namespace warpscope::cli_test {
namespace {

using Names = std::vector<std::string>;

int rounds() {
  constexpr int kDefault = 6;
  const char* wanted = std::getenv("WARPSCOPE_CHAOS_ROUNDS");
  return wanted == nullptr ? kDefault : std::max(1, std::atoi(wanted));
}

class Chaos : public testing::Test {
 protected:
  Chaos() : random_(std::random_device{}()) {}

  /// Leaves the output of an undisturbed sweep in undisturbed_, and nothing on the disk.
  void prepare(int points) {
    write_text(directory_ / "points.csv", small_points(points));
    const auto start = std::chrono::steady_clock::now();
    ASSERT_EQ(run_program(sweep_of_points({"-j", "2"}), directory_.path()).status, 0);
    whole_ = std::chrono::steady_clock::now() - start;
    undisturbed_ = output();
    std::filesystem::remove(directory_ / "out.csv");
  }

  std::string output() const { return file_text(directory_ / "out.csv"); }

  std::size_t stored() {
    try {
      using experiments::ResultStore;
      return ResultStore(directory_ / "out.csv.store", ResultStore::Use::read_only,
                         experiments::model_version())
          .size();
    } catch (const experiments::FileError&) {
      return 0;  // not there, or a kill came before its first table
    }
  }

  /// A moment within the time that the undisturbed sweep took.
  void sleep_for_a_part() {
    std::this_thread::sleep_for(std::uniform_real_distribution<double>(0.0, 1.0)(random_) * whole_);
  }

  /// What every disaster must leave possible: to go on to the same bytes, with no file left besides.
  void expect_that_it_can_go_on() {
    const ProgramResult result = run_program(sweep_of_points({"--resume", "-j", "2"}), directory_.path());
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_EQ(output(), undisturbed_);
    EXPECT_EQ(directory_.files(), (Names{"out.csv", "points.csv"}));
    std::filesystem::remove(directory_ / "out.csv");
  }

  /// An output is whole or not there.
  void expect_no_half_output() {
    if (std::filesystem::exists(directory_ / "out.csv")) {
      EXPECT_EQ(output(), undisturbed_);
    }
  }

  static std::vector<std::string> preload(const std::string& what) {
    return {"LD_PRELOAD=" WARPSCOPE_SLOW_FILES, what};
  }

  TemporaryDirectory directory_;
  std::mt19937 random_;
  std::string undisturbed_;
  std::chrono::duration<double> whole_{};
};

TEST_F(Chaos, ParentsAndWorkersAreKilled) {
  prepare(60);
  for (int round = 0; round < rounds(); ++round) {
    std::size_t before = 0;
    for (int kill = 0; kill < 3; ++kill) {
      RunningProgram program(warpscope(sweep_of_points({"--resume", "-j", "2"})), directory_.path());
      sleep_for_a_part();
      const std::vector<pid_t> workers = program.children();
      if (kill % 2 == 0 || workers.empty()) {
        ::kill(program.process(), kill == 0 ? SIGKILL : SIGTERM);
      } else {
        ::kill(workers[random_() % workers.size()], SIGKILL);
      }
      const ProgramResult result = program.wait();
      if (result.status == 0) {
        EXPECT_EQ(output(), undisturbed_);
        before = 0;
        break;
      }
      if (result.status == 3) {
        EXPECT_NE(output().find(",the worker process was ended by signal 9 (Killed)\n"), std::string::npos);
        std::filesystem::remove(directory_ / "out.csv");
      }
      expect_no_half_output();
      // Killed behind its last step, it has left the whole output in place of the stored points.
      const bool finished = std::filesystem::exists(directory_ / "out.csv");
      const std::size_t now = stored();
      EXPECT_GE(now, finished ? 0 : before) << "lost points";
      before = now;
    }
    expect_that_it_can_go_on();
  }
}

TEST_F(Chaos, TwoAtOnceOnASlowFileSystem) {
  prepare(4);
  for (int round = 0; round < rounds(); ++round) {
    RunningProgram one(warpscope(sweep_of_points({"-j", "1"})), directory_.path(),
                       preload("CHAOS_DELAY_US=10000"));
    sleep_for_a_part();
    RunningProgram other(warpscope(sweep_of_points({"-j", "1"})), directory_.path(),
                         preload("CHAOS_DELAY_US=10000"));
    const ProgramResult results[] = {one.wait(), other.wait()};
    int done = 0;
    for (const ProgramResult& result : results) {
      done += result.status == 0 ? 1 : 0;
      if (result.status != 0) {
        EXPECT_EQ(result.status, 2);
        EXPECT_TRUE(result.err.starts_with("warpscope: out.csv.store: ")) << result.err;
      }
    }
    EXPECT_GE(done, 1) << results[0].err << results[1].err;
    EXPECT_EQ(output(), undisturbed_);
    EXPECT_EQ(directory_.files(), (Names{"out.csv", "points.csv"}));
    std::filesystem::remove(directory_ / "out.csv");
  }
}

TEST_F(Chaos, TheDiskFillsUp) {
  prepare(40);
  for (int round = 0; round < rounds(); ++round) {
    const std::string limit = std::to_string(std::uniform_int_distribution<int>(0, 500000)(random_));
    const ProgramResult full =
        run(warpscope(sweep_of_points({"-j", "1"})), directory_.path(), preload("CHAOS_FULL_AFTER=" + limit));
    if (full.status != 0) {
      EXPECT_EQ(full.status, 2);
      EXPECT_TRUE(full.err.starts_with("warpscope: out.csv")) << full.err;
      EXPECT_EQ(full.err.find('\n'), full.err.size() - 1) << full.err;
    }
    expect_no_half_output();
    expect_that_it_can_go_on();
  }
}

TEST_F(Chaos, ASmallDiskIsFull) {
  prepare(4);
  const std::string mount = (directory_ / "small").string();
  std::filesystem::create_directory(mount);
  if (run({"mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", mount}, directory_.path()).status != 0) {
    GTEST_SKIP() << "file systems may not be mounted here";
  }
  Arguments arguments = sweep_of_points({"-j", "1"});
  arguments[6] = "small/out.csv";
  const ProgramResult full = run_program(arguments, directory_.path());
  run({"umount", mount}, directory_.path());
  EXPECT_EQ(full.status, 2);
  EXPECT_TRUE(full.err.starts_with("warpscope: small/out.csv")) << full.err;
}

TEST_F(Chaos, TenThousandPointsNeedLittleMemory) {
  // Cheap points: what counts is what the sweep itself keeps of each.
  std::string points = kPointsHeader + ",seqlen_k\n";
  for (int queries = 1; queries <= 100; ++queries) {
    for (int keys = 1; keys <= 100; ++keys) {
      points += "fa2,fwd,1,1," + std::to_string(queries) + ",32," + std::to_string(keys) + '\n';
    }
  }
  write_text(directory_ / "points.csv", points);
  RunningProgram program(warpscope(sweep_of_points({"-j", "2", "--json", "out.json"})), directory_.path());
  EXPECT_EQ(program.wait().status, 0);
  rusage used{};
  // The program and its workers, whichever needed most; this process has no other children.
  ASSERT_EQ(::getrusage(RUSAGE_CHILDREN, &used), 0);
  EXPECT_LT(used.ru_maxrss, 100 * 1024) << "kilobytes";
}

}  // namespace
}  // namespace warpscope::cli_test

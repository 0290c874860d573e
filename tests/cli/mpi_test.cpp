// `mpirun warpscope sweep`, where MPI is installed.
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <map>
#include <thread>

#include "experiments/base/usage_error.hpp"
#include "experiments/mpi/launcher.hpp"
#include "experiments/mpi/remote_message.hpp"
#include "tests/cli/sweep_files.hpp"

namespace warpscope::cli_test {
namespace {

using experiments::Launcher;

std::optional<Launcher> launcher(const std::map<std::string, std::string>& variables) {
  return experiments::find_launcher([&](const std::string& name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  });
}

TEST(Launcher, IsKnownByItsVariables) {
  EXPECT_FALSE(launcher({}));
  EXPECT_FALSE(launcher({{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "1"}}));
  const auto open_mpi = launcher({{"OMPI_COMM_WORLD_RANK", "2"}, {"OMPI_COMM_WORLD_SIZE", "3"}});
  ASSERT_TRUE(open_mpi);
  EXPECT_EQ(open_mpi->rank, 2);
  EXPECT_EQ(open_mpi->size, 3);
  EXPECT_EQ(launcher({{"PMI_RANK", "1"}, {"PMI_SIZE", "4"}})->size, 4);
  EXPECT_TRUE(launcher({{"PMIX_RANK", "1"}, {"SLURM_STEP_NUM_TASKS", "8"}})->speaks_mpi);
  EXPECT_FALSE(launcher({{"PMIX_RANK", "0"}, {"SLURM_STEP_NUM_TASKS", "1"}}));
}

TEST(Launcher, AJobScriptOfSlurmIsNone) {
  EXPECT_FALSE(launcher({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}, {"SLURM_ARRAY_TASK_ID", "3"}}));
}

TEST(Launcher, CopiesThatCannotTalkAreRefused) {
  const auto copies = launcher({{"SLURM_PROCID", "1"}, {"SLURM_STEP_NUM_TASKS", "4"}});
  ASSERT_TRUE(copies);
  EXPECT_EQ(copies->rank, 1);
  EXPECT_THROW(experiments::open_communicator(*copies), experiments::UsageError);
}

TEST(RemoteMessage, CarriesAnyText) {
  for (const std::string& text : {std::string(), std::string("a b\n"), std::string("\0 7", 3)}) {
    const auto message = experiments::decode(
        experiments::encode({experiments::RemoteMessage::Kind::task, 12345678901, 23, text}));
    EXPECT_EQ(message.kind, experiments::RemoteMessage::Kind::task);
    EXPECT_EQ(message.number, 12345678901U);
    EXPECT_EQ(message.process, 23U);
    EXPECT_EQ(message.text, text);
  }
}

class Mpi : public testing::Test {
 protected:
  void SetUp() override {
    if (run_program({"--version"}, directory_.path()).out.find("MPI built in") == std::string::npos) {
      GTEST_SKIP() << "this build has no MPI: libopenmpi-dev or libboost-mpi-dev is missing";
    }
    try {
      run({"mpirun", "--version"}, directory_.path());
    } catch (const std::runtime_error&) {
      GTEST_SKIP() << "there is no mpirun: openmpi-bin is missing";
    }
  }

  Arguments on_three_ranks(const Arguments& more = {}) {
    Arguments words = warpscope(sweep_of_points(more));
    // Open MPI's plug-ins keep memory until the process ends, which a build with sanitizers would call leaks.
    words.insert(words.begin(), {"mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "3", "-x",
                                 "ASAN_OPTIONS=detect_leaks=0"});
    return words;
  }
  std::string output() { return file_text(directory_ / "out.csv"); }

  TemporaryDirectory directory_;
};

TEST_F(Mpi, GivesTheBytesOfOneMachine) {
  write_text(directory_ / "points.csv", small_points(30) + "fa9,fwd,1,1,64,64\nfa2,fwd,1,1,64,250\n");
  const Arguments json = {"--json", "out.json"};
  ASSERT_EQ(run(on_three_ranks(json), directory_.path()).status, 3);
  const std::string csv = output();
  const std::string text = file_text(directory_ / "out.json");
  ASSERT_EQ(run(on_three_ranks({"--json", "out.json", "-j", "3"}), directory_.path()).status, 3);
  EXPECT_EQ(output(), csv);
  EXPECT_EQ(file_text(directory_ / "out.json"), text);
  for (const char* jobs : {"1", "2"}) {
    ASSERT_EQ(run_program(sweep_of_points({"--json", "out.json", "-j", jobs}), directory_.path()).status, 3);
    EXPECT_EQ(output(), csv);
    EXPECT_EQ(file_text(directory_ / "out.json"), text);
  }
}

TEST_F(Mpi, EndsWithOneLineWhereNothingCanBeDone) {
  write_text(directory_ / "points.csv", "impl\n");
  const ProgramResult result = run(on_three_ranks(), directory_.path());
  EXPECT_EQ(result.status, 2);
  EXPECT_TRUE(result.err.starts_with("warpscope: points.csv:1: column 'pass' is missing")) << result.err;
  EXPECT_EQ(result.err.find("warpscope: ", 1), std::string::npos) << result.err;
}

TEST_F(Mpi, AKillLosesNothing) {
  write_text(directory_ / "points.csv", small_points(40));
  {
    RunningProgram program(on_three_ranks(), directory_.path());
    const std::filesystem::path log = directory_ / "out.csv.store-wal";
    std::error_code error;
    while (!program.has_ended() && !(std::filesystem::file_size(log, error) > 150000 && !error)) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    ::kill(program.process(), SIGKILL);  // mpirun; the ranks notice
    program.wait();
  }
  // The ranks are children of a process that is gone; the lock of the store says when they are too.
  ProgramResult result;
  for (int attempt = 0; attempt < 50; ++attempt) {
    result = run_program(sweep_of_points({"--resume", "-j", "2"}), directory_.path());
    if (result.status == 0) {
      break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  ASSERT_EQ(result.status, 0) << result.err;
  const std::string resumed = output();
  ASSERT_EQ(run_program(sweep_of_points(), directory_.path()).status, 0);
  EXPECT_EQ(output(), resumed);
}

}  // namespace
}  // namespace warpscope::cli_test

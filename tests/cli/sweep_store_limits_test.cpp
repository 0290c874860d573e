// What a sweep says of its store and its progress, and what it does where the store cannot be used.
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "experiments/store/model_version.hpp"
#include "experiments/store/result_store.hpp"
#include "tests/cli/sweep_store.hpp"

namespace warpscope::cli_test {
namespace {

using experiments::Fate;
using experiments::model_version;
using experiments::ResultStore;

TEST_F(SweepStore, ASignalSaysWhatIsKept) {
  write_text(directory_ / "points.csv", small_points(400));
  for (const auto& [signal, name] : {std::pair(SIGINT, "SIGINT"), std::pair(SIGTERM, "SIGTERM")}) {
    RunningProgram program(warpscope(sweep_of_points({"--resume", "-j", "1"})), directory_.path());
    std::error_code error;
    const std::filesystem::path log = directory_ / "out.csv.store-wal";
    while (!program.has_ended() && !(std::filesystem::file_size(log, error) > 60000 && !error)) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    ::kill(program.process(), signal);
    const ProgramResult result = program.wait();
    EXPECT_EQ(result.status, -1) << "ends by the signal itself";
    const std::string kept = std::to_string(stored());
    EXPECT_EQ(result.err, std::string("warpscope: interrupted by ") + name + ": " + kept +
                              " of 400 points are done and safe in out.csv.store; go on with --resume\n");
    EXPECT_EQ(directory_.files(), (Names{"out.csv.store", "points.csv"}));
  }
}

TEST_F(SweepStore, SaysWhenItIsGone) {
  std::filesystem::create_directory(directory_ / "sub");
  write_text(directory_ / "points.csv", small_points(30));
  Arguments arguments = sweep_of_points({"-j", "1"});
  arguments[6] = "sub/out.csv";
  RunningProgram program(warpscope(arguments), directory_.path());
  while (!program.has_ended() && !std::filesystem::exists(directory_ / "sub/out.csv.store-wal")) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  std::error_code error;
  std::filesystem::remove_all(directory_ / "sub", error);
  const ProgramResult result = program.wait();
  EXPECT_EQ(result.status, 2);
  EXPECT_EQ(result.err.find("safe"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("sub/out.csv"), std::string::npos) << result.err;
}

TEST_F(SweepStore, OfAnotherModelOrDamagedIsOneLine) {
  write_text(directory_ / "points.csv", small_points(2));
  ResultStore(directory_ / "out.csv.store", ResultStore::Use::fresh, "0.0").put("k", "p", {Fate::done, "{}"});
  const ProgramResult other = sweep({"--resume"});
  EXPECT_EQ(other.status, 2);
  EXPECT_EQ(other.err, "warpscope: out.csv.store: holds results of model 0.0, this is model " +
                           model_version() + "; delete the file, or name another\n");
  write_text(directory_ / "out.csv.store", std::string(5000, 'x'));
  const ProgramResult damaged = sweep({"--resume"});
  EXPECT_EQ(damaged.status, 2);
  EXPECT_EQ(damaged.err, "warpscope: out.csv.store: is no store of results; name another file\n");
  EXPECT_EQ(directory_.files(), (Names{"out.csv.store", "points.csv"}));
}

TEST_F(SweepStore, InUseIsOneLine) {
  write_text(directory_ / "points.csv", small_points(2));
  const ResultStore other(directory_ / "shared", ResultStore::Use::fresh, model_version());
  const ProgramResult result = sweep({"--store", "shared"});
  EXPECT_EQ(result.status, 2);
  EXPECT_EQ(result.err,
            "warpscope: shared: is in use by another sweep; wait for it, or name another store\n");
}

TEST_F(SweepStore, AFullDiskLosesNothing) {
  write_text(directory_ / "points.csv", small_points(40));
  ASSERT_EQ(sweep().status, 0);
  const std::string whole = output();
  std::filesystem::remove(directory_ / "out.csv");
  // A limit on the size of files (in blocks of 512 bytes) meets the store first.
  const std::string limited = "ulimit -f 600; exec \"$0\" \"$@\"";
  Arguments shell = warpscope(sweep_of_points({"-j", "1"}));
  shell.insert(shell.begin(), {"sh", "-c", limited});
  const ProgramResult full = run(shell, directory_.path());
  EXPECT_EQ(full.status, 2);
  EXPECT_EQ(full.err,
            "warpscope: out.csv.store: cannot be written (disk I/O error); what is in it is safe: make room "
            "and go on "
            "with --resume\n");
  const std::size_t kept = stored();
  EXPECT_GT(kept, 5U);
  EXPECT_LT(kept, 40U);
  ASSERT_EQ(sweep({"--resume"}).status, 0);
  EXPECT_EQ(output(), whole);
}

TEST_F(SweepStore, IsNotTheOutput) {
  write_text(directory_ / "points.csv", small_points(2));
  const ProgramResult result = sweep({"--store", "./out.csv"});
  EXPECT_EQ(result.status, 2);
  EXPECT_EQ(result.err,
            "warpscope: ./out.csv: is named by -o and by --store; an output needs a file of its own\n");
}

TEST_F(SweepStore, ProgressShowsOnATerminalOnly) {
  write_text(directory_ / "points.csv", small_points(2));
  EXPECT_EQ(sweep().err, "");
  std::string command;
  for (const std::string& word : warpscope(sweep_of_points())) {
    command += word + ' ';
  }
  const auto on_a_terminal = [&](const std::string& shell_command) {
    return run({"script", "-qec", shell_command, "/dev/null"}, directory_.path());
  };
  try {
    if (on_a_terminal("true").status != 0) {
      GTEST_SKIP() << "there are no pseudo terminals here";
    }
  } catch (const std::runtime_error& error) {
    GTEST_SKIP() << error.what();
  }
  const ProgramResult result = on_a_terminal(command);
  EXPECT_EQ(result.status, 0);
  EXPECT_NE(result.out.find("sweep: 0 of 2 points"), std::string::npos) << result.out;
}

TEST_F(SweepStore, ExportsJson) {
  write_text(directory_ / "points.csv",
             "note," + kPointsHeader + "\na,fa2,fwd,1,2,256,64\n,fa9,fwd,1,1,32,32\n");
  ASSERT_EQ(sweep({"--json", "out.json"}).status, 3);
  const auto json = nlohmann::json::parse(file_text(directory_ / "out.json"));
  const auto run =
      nlohmann::json::parse(run_program(small_run("fa2", {"--json", "-"}), directory_.path()).out);
  EXPECT_EQ(json["model_version"], model_version());
  const auto& point = json["points"][0];
  EXPECT_EQ(point["row"]["note"], "a");
  EXPECT_EQ(point["point"]["kernel"], "fa2");
  EXPECT_EQ(point["result"]["cycles"], run["cycles"]);
  EXPECT_EQ(point["result"]["metrics"]["sm__inst_executed.sum"], run["metrics"]["sm__inst_executed.sum"]);
  EXPECT_EQ(json["points"][1]["error"],
            "impl 'fa9': legal are fa1, fa2, fa2_kvcache, fa2_torch, standard, standard_eager, "
            "xformers, triton, triton_seqpar, gemm, row_softmax and "
            "variants like fa1+split_q");
}

}  // namespace
}  // namespace warpscope::cli_test

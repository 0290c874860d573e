// Where outputs go, and what they must never destroy.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "experiments/base/files.hpp"
#include "tests/cli/sweep_files.hpp"

namespace warpscope::cli_test {
namespace {

class Outputs : public testing::Test {
 protected:
  Outputs() {
    write_text(directory_ / "points.csv", small_points(2));
    write_text(directory_ / "g.toml", "base = \"middle\"\n");
    write_text(directory_ / "middle.toml", "base = \"h200-sxm-141gb\"\n");
    write_text(directory_ / "a.trace",
               file_text(std::filesystem::path(WARPSCOPE_SOURCE_DIR) / "experiments/traces/copy.trace"));
  }

  ProgramResult program(const Arguments& arguments) { return run_program(arguments, directory_.path()); }
  static mode_t mode(const std::filesystem::path& file) {
    struct stat status {};
    EXPECT_EQ(::stat(file.c_str(), &status), 0);
    return status.st_mode & 07777;
  }

  TemporaryDirectory directory_;
};

TEST_F(Outputs, AreNotWhatIsReadOrWrittenBesides) {
  const Arguments gpu = {"run",     "--gpu", "./g.toml", "--kernel", "fa2",        "--batch", "1",
                         "--heads", "1",     "--seqlen", "64",       "--head-dim", "64"};
  const auto with = [](Arguments arguments, const Arguments& more) {
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  };
  const Arguments sweep = {"sweep", "--points", "points.csv"};
  std::filesystem::create_symlink("points.csv", directory_ / "link.csv");
  std::filesystem::create_hard_link(directory_ / "points.csv", directory_ / "hard.csv");
  write_text(directory_ / "gpus.csv", "gpu," + kPointsHeader + "\n./g.toml,fa2,fwd,1,1,64,64\n");
  const std::vector<std::pair<Arguments, std::string>> cases = {
      {with(sweep, {"--gpu", "a100-sxm4-80gb", "-o", "points.csv"}),
       "points.csv: is named by --points and by -o"},
      {with(sweep, {"--gpu", "a100-sxm4-80gb", "-o", "link.csv"}),
       "link.csv: is named by --points and by -o"},
      {with(sweep, {"--gpu", "a100-sxm4-80gb", "-o", "hard.csv"}),
       "hard.csv: is named by --points and by -o"},
      {with(sweep, {"--gpu", "a100-sxm4-80gb", "-o", "x", "--json", "points.csv"}),
       "points.csv: is named by --points and by --json"},
      {with(sweep, {"--gpu", "a100-sxm4-80gb", "-o", "x", "--json", "./x"}),
       "./x: is named by -o and by --json"},
      {with(sweep, {"--gpu", "a100-sxm4-80gb", "-o", "x", "--store", "points.csv"}),
       "points.csv: is named by --points and by --store"},
      {with(sweep, {"--gpu", "a100-sxm4-80gb", "-o", "x", "--json", "x.store"}),
       "x.store: is named by --json and by its store"},
      {with(sweep, {"--gpu", "./g.toml", "-o", "g.toml"}),
       "g.toml: is named by the GPU of a point and by -o"},
      {with(sweep, {"--gpu", "./g.toml", "-o", "middle.toml"}),
       "middle.toml: is named by the GPU of a point and by -o"},
      {{"sweep", "--points", "gpus.csv", "-o", "g.toml"}, "g.toml: is named by the GPU of a point and by -o"},
      {{"merge", "--points", "points.csv", "--gpu", "a100-sxm4-80gb", "-o", "points.csv", "some.store"},
       "points.csv: is named by --points and by -o"},
      {{"merge", "--points", "points.csv", "--gpu", "a100-sxm4-80gb", "-o", "s", "./s"},
       "s: is named by STORE and by -o"},
      {with(gpu, {"--json", "g.toml"}), "g.toml: is named by --gpu and by --json"},
      {with(gpu, {"--report", "middle.toml"}), "middle.toml: is named by --gpu and by --report"},
      {with(gpu, {"--report", "x", "--json", "x"}), "x: is named by --json and by --report"},
      {{"run", "--gpu", "a100-sxm4-80gb", "--trace", "a.trace", "--json", "a.trace"},
       "a.trace: is named by --trace and by --json"},
      {{"run", "--gpu", "a100-sxm4-80gb", "--trace", "a.trace", "--report", "a.trace"},
       "a.trace: is named by --trace and by --report"},
      {{"trace", "dump", "--gpu", "./g.toml", "--kernel", "fa2", "--batch", "1", "--heads", "1", "--seqlen",
        "64", "--head-dim", "64", "-o", "g.toml"},
       "g.toml: is named by --gpu and by -o"},
  };
  const std::vector<std::string> files = directory_.files();
  const std::string points = file_text(directory_ / "points.csv");
  for (const auto& [arguments, message] : cases) {
    const ProgramResult result = program(arguments);
    EXPECT_EQ(result.status, 2) << message;
    EXPECT_EQ(result.err, "warpscope: " + message + "; an output needs a file of its own\n");
    EXPECT_EQ(result.out, "");
  }
  EXPECT_EQ(directory_.files(), files);
  EXPECT_EQ(file_text(directory_ / "points.csv"), points);
}

TEST_F(Outputs, NeedAName) {
  const std::vector<Arguments> cases = {
      {"sweep", "--points", "points.csv", "--gpu", "a100-sxm4-80gb", "-o", ""},
      {"sweep", "--points", "points.csv", "--gpu", "a100-sxm4-80gb", "-o", "x", "--json", ""},
      {"sweep", "--points", "points.csv", "--gpu", "a100-sxm4-80gb", "-o", "x", "--store", ""},
      small_run("fa2", {"--report", ""}),
      {"validate", "--json", ""},
      {"study", "why-fa2", "-o", ""},
  };
  for (const Arguments& arguments : cases) {
    const ProgramResult result = program(arguments);
    EXPECT_EQ(result.status, 2) << arguments[0];
    EXPECT_NE(result.err.find("'' is no name of a file"), std::string::npos) << result.err;
  }
}

TEST_F(Outputs, ThatStandardOutputLosesAreErrors) {
  if (!std::filesystem::exists("/dev/full")) {
    GTEST_SKIP() << "there is no /dev/full";
  }
  const std::vector<Arguments> verbs = {
      {"--help"},
      {"--version"},
      {"run", "--help"},
      small_run("fa2"),
      small_run("fa2", {"--json", "-"}),
      {"list", "gpus"},
      {"list", "kernels"},
      {"list", "studies"},
      {"config", "show", "a100-sxm4-80gb"},
      {"config", "check", "a100-sxm4-80gb"},
      {"trace", "check", "a.trace"},
      {"trace", "dump", "--gpu", "a100-sxm4-80gb", "--kernel", "fa2", "--batch", "1", "--heads", "1",
       "--seqlen", "64", "--head-dim", "64"},
  };
  for (const Arguments& verb : verbs) {
    Arguments shell = warpscope(verb);
    shell.insert(shell.begin(), {"sh", "-c", "exec \"$0\" \"$@\" > /dev/full"});
    const ProgramResult result = run(shell, directory_.path());
    EXPECT_EQ(result.status, 2) << verb[0];
    EXPECT_EQ(result.err, "warpscope: standard output: cannot be written: No space left on device\n");
  }
}

TEST_F(Outputs, ASweepThatStandardOutputLosesIsKept) {
  Arguments shell = warpscope(sweep_of_points({"--json", "-"}));
  shell.insert(shell.begin(), {"sh", "-c", "exec \"$0\" \"$@\" > /dev/full"});
  const ProgramResult result = run(shell, directory_.path());
  EXPECT_EQ(result.status, 2);
  EXPECT_EQ(result.err,
            "warpscope: standard output: cannot be written: No space left on device; the results are safe in "
            "out.csv.store, go on with --resume\n");
  EXPECT_TRUE(std::filesystem::exists(directory_ / "out.csv.store"));
  const ProgramResult resumed = program(sweep_of_points({"--json", "-", "--resume"}));
  EXPECT_EQ(resumed.status, 0);
  EXPECT_EQ(nlohmann::json::parse(resumed.out)["points"].size(), 2U);
}

TEST_F(Outputs, KeepPermissionsAndLinks) {
  std::filesystem::create_directory(directory_ / "far");
  std::filesystem::create_symlink("far/real.csv", directory_ / "out.csv");
  ASSERT_EQ(program(sweep_of_points()).status, 0) << "a link to a file that does not exist yet";
  EXPECT_EQ(::chmod((directory_ / "far/real.csv").c_str(), 0640), 0);
  write_text(directory_ / "far/real.csv", "old");
  ASSERT_EQ(program(sweep_of_points()).status, 0);
  EXPECT_TRUE(std::filesystem::is_symlink(directory_ / "out.csv"));
  EXPECT_EQ(mode(directory_ / "far/real.csv"), 0640U);
  EXPECT_NE(file_text(directory_ / "far/real.csv").find("model_cycles"), std::string::npos);
}

TEST_F(Outputs, NeverFollowALinkThatLiesInTheirWay) {
  write_text(directory_ / "precious", "mine");
  std::filesystem::create_symlink("precious", directory_ / "out.csv.partial");
  ASSERT_EQ(program(sweep_of_points()).status, 0);
  EXPECT_EQ(file_text(directory_ / "precious"), "mine");
  EXPECT_TRUE(std::filesystem::is_symlink(directory_ / "out.csv.partial"));
}

TEST_F(Outputs, AppearWholeOrNotAtAll) {
  const std::vector<std::string> before = directory_.files();
  {
    experiments::PendingFile file(directory_ / "new");
    file.write("half");
    EXPECT_FALSE(std::filesystem::exists(directory_ / "new"));
  }
  EXPECT_EQ(directory_.files(), before);
  experiments::PendingFile one(directory_ / "new");
  experiments::PendingFile other(directory_ / "new");
  one.write("one");
  other.write("other");
  one.commit();
  EXPECT_EQ(file_text(directory_ / "new"), "one");
  other.commit();
  EXPECT_EQ(file_text(directory_ / "new"), "other");
  EXPECT_EQ(directory_.files().size(), before.size() + 1);
}

TEST_F(Outputs, OneRowThatIsNoTextSinksNoOther) {
  write_text(directory_ / "points.csv",
             "gpu," + kPointsHeader + "\n\xff\xfe,fa2,fwd,1,1,64,64\na100-sxm4-80gb,fa2,fwd,1,1,64,64\n");
  EXPECT_EQ(program({"sweep", "--points", "points.csv", "-o", "out.csv", "--json", "out.json"}).status, 3);
  const auto points = nlohmann::json::parse(file_text(directory_ / "out.json"))["points"];
  EXPECT_EQ(points[0]["error"].get<std::string>().substr(0, 4), "gpu ");
  EXPECT_GT(points[1]["result"]["cycles"], 0);
}

TEST_F(Outputs, HoldNothingThatATerminalObeys) {
  write_text(
      directory_ / "b.trace",
      "warpscope_trace 1\ntensor \"\\x1b[31mred\" input segments=1 segment_bytes=512\nlaunch l {\n  program "
      "main {\n    LDG.128 R4:4, R2:2 [\"\\x1b[31mred\" bytes=512]\n    EXIT\n  }\n  class "
      "programs=main\n}\nend\n");
  const ProgramResult result = program({"run", "--gpu", "a100-sxm4-80gb", "--trace", "b.trace"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.out.find('\x1b'), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("\\x1b[31mred"), std::string::npos) << result.out;
  const ProgramResult message = program({"run", "--gpu", "a100-sxm4-80gb", "--trace", "\x1b[31m.trace"});
  EXPECT_EQ(message.status, 2);
  EXPECT_EQ(message.err.find('\x1b'), std::string::npos) << message.err;
}

}  // namespace
}  // namespace warpscope::cli_test

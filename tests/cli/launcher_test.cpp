// The shell script at the top of the repository, where it cannot do its work.
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/cli/program.hpp"

namespace warpscope::cli_test {
namespace {

TEST(LauncherScript, SaysWhereItCannotBuild) {
  const TemporaryDirectory directory;
  const std::filesystem::path source = WARPSCOPE_SOURCE_DIR;
  std::filesystem::copy_file(source / "warpscope", directory / "warpscope");
  write_text(directory / "build", "a file where a folder should be");
  const std::string root = std::filesystem::canonical(directory.path());
  for (const char* verb : {"list", "test"}) {
    const ProgramResult result = run({directory / "warpscope", "--no-install", verb}, directory.path());
    EXPECT_EQ(result.status, 2) << verb;
    EXPECT_EQ(result.err, "warpscope: cannot write to " + root +
                              "/build, and it holds no finished build; use a "
                              "copy of " +
                              root + " in a folder that you may write to\n");
  }
}

}  // namespace
}  // namespace warpscope::cli_test

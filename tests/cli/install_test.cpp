// A program that was installed works without its source tree.
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/cli/program.hpp"

namespace warpscope::cli_test {
namespace {

TEST(Install, TheProgramFindsItsDescriptions) {
  if (run({"sh", "-c", "command -v cmake"}, "/").status != 0) {
    GTEST_SKIP() << "cmake is missing";
  }
  const TemporaryDirectory directory;
  const std::string prefix = std::filesystem::canonical(directory.path()) / "usr";
  const ProgramResult install =
      run({"cmake", "--install", WARPSCOPE_BUILD_DIR, "--prefix", prefix}, directory.path());
  ASSERT_EQ(install.status, 0) << install.err << install.out;
  for (const char* file :
       {"share/warpscope/hwconfigs/h100-sxm5-80gb.toml",
        "share/warpscope/reference/measured-h200/counters.csv", "share/man/man1/warpscope.1",
        "share/bash-completion/completions/warpscope", "share/zsh/site-functions/_warpscope"}) {
    EXPECT_GT(std::filesystem::file_size(std::filesystem::path(prefix) / file), 100U) << file;
  }
  const std::string program = prefix + "/bin/warpscope";
  const ProgramResult list = run({program, "list", "gpus"}, directory.path());
  EXPECT_EQ(list.status, 0) << list.err;
  EXPECT_NE(list.out.find("\nh100-sxm5-80gb "), std::string::npos) << list.out;
  const ProgramResult shown = run({program, "config", "show", "h100-sxm5-80gb"}, directory.path());
  EXPECT_NE(shown.out.find(prefix + "/share/warpscope/hwconfigs/h100-sxm5-80gb.toml:"), std::string::npos);
  // Elsewhere than where it was installed to, as in a package under construction or behind a link.
  std::filesystem::rename(prefix, directory / "moved");
  std::filesystem::create_symlink("moved/bin/warpscope", directory / "link");
  EXPECT_NE(run({directory / "link", "config", "show", "h100-sxm5-80gb"}, directory.path())
                .out.find("moved/share/warpscope/hwconfigs/h100-sxm5-80gb.toml:"),
            std::string::npos);
}

}  // namespace
}  // namespace warpscope::cli_test

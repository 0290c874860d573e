// The code in kernels/README.md is the code of the files that it names.
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "tests/cli/program.hpp"

namespace warpscope::cli_test {
namespace {

const std::filesystem::path kSource = WARPSCOPE_SOURCE_DIR;

struct Block {
  std::string label;  ///< behind the fence: language, then what the code is
  std::string code;
};

std::vector<Block> blocks() {
  std::istringstream text(file_text(kSource / "kernels/README.md"));
  std::vector<Block> result;
  bool inside = false;
  for (std::string line; std::getline(text, line);) {
    if (line.starts_with("```")) {
      inside = !inside;
      if (inside) {
        result.push_back({line.substr(3), ""});
      }
    } else if (inside) {
      result.back().code += line + '\n';
    }
  }
  return result;
}

TEST(KernelTutorial, QuotesTheFilesAsTheyAre) {
  int quotes = 0;
  for (const Block& block : blocks()) {
    if (block.label.starts_with("cpp ")) {
      ++quotes;
      const std::string file = block.label.substr(4);
      EXPECT_NE(file_text(kSource / file).find(block.code), std::string::npos) << file << ":\n" << block.code;
    }
  }
  EXPECT_EQ(quotes, 5);
}

TEST(KernelTutorial, TemplateMakesAFolderUnderItsOwnName) {
  const TemporaryDirectory directory;
  std::filesystem::create_directory(directory / "kernels");
  std::filesystem::copy(kSource / "kernels/row_softmax", directory / "kernels/row_softmax");
  for (const Block& block : blocks()) {
    if (block.label == "sh template") {
      EXPECT_EQ(run({"sh", "-c", block.code}, directory.path()).status, 0);
    }
  }
  const std::filesystem::path copy = directory / "kernels/my_kernel";
  EXPECT_NE(file_text(copy / "CMakeLists.txt").find("PRIVATE my_kernel.cpp"), std::string::npos);
  EXPECT_NE(file_text(copy / "my_kernel.cpp").find("plan_my_kernel("), std::string::npos);
  EXPECT_EQ(file_text(copy / "my_kernel.hpp").find("row_softmax"), std::string::npos);
}

TEST(KernelTutorial, CommandsWork) {
  const TemporaryDirectory directory;
  int commands = 0;
  for (const Block& block : blocks()) {
    std::istringstream code(block.label == "sh" ? block.code : "");
    for (std::string line; std::getline(code, line);) {
      std::istringstream words(line.substr(line.find(' ')));
      Arguments arguments;
      for (std::string word; words >> word;) {
        arguments.push_back(word);
      }
      const ProgramResult result = run_program(arguments, directory.path());
      EXPECT_EQ(result.status, 0) << line << '\n' << result.err;
      ++commands;
    }
  }
  EXPECT_EQ(commands, 2);
}

}  // namespace
}  // namespace warpscope::cli_test

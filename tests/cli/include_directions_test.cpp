// Includes point one way: experiments -> kernels -> model/trace, experiments -> model, and nothing back;
// among the kernels, a kernel -> machine and compiler, numeric -> machine.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <string>
#include <vector>

#include "tests/cli/program.hpp"

namespace warpscope::cli_test {
namespace {

/// Files under `folder` include nothing whose name starts with one of `forbidden`, but for `allowed`.
struct Rule {
  const char* name;
  const char* folder;
  std::vector<std::string> forbidden;
  std::vector<std::string> allowed;
};

void PrintTo(const Rule& rule, std::ostream* stream) {
  *stream << rule.name;
}

// What runs kernels sees them from outside, and the machine that they are written for.
std::vector<std::string> with_machine(const std::string& own) {
  return {own, "kernels/machine/", "kernels/kernel.hpp", "kernels/page_table.hpp", "kernels/unsupported.hpp"};
}

const Rule kRules[] = {
    {"model_knows_no_kernel", "model", {"kernels/", "experiments/", "tests/"}, {}},
    {"base_stands_alone", "model/base", {"model/", "kernels/", "systemc", "tlm"}, {"model/base/"}},
    {"trace_stands_alone",
     "model/trace",
     {"model/", "kernels/", "systemc", "tlm"},
     {"model/base/", "model/trace/"}},
    {"fast_mode_is_met_by_none_below", "model/engine", {"model/fast/"}, {}},
    {"the_memory_knows_no_sm",
     "model/memory",
     {"model/sm/", "model/gpu/", "model/engine/", "model/fast/"},
     {}},
    {"an_sm_knows_nothing_outside", "model/sm", {"model/gpu/", "model/engine/", "model/fast/"}, {}},
    {"hw_stands_alone", "model/hw", {"model/", "kernels/", "systemc", "tlm"}, {"model/base/", "model/hw/"}},
    {"kernels_see_only_the_trace",
     "kernels",
     {"model/", "experiments/", "tests/", "systemc", "tlm"},
     {"model/trace/"}},
    {"the_machine_knows_no_kernel", "kernels/machine", {"kernels/"}, {"kernels/machine/"}},
    {"the_compiler_knows_no_kernel", "kernels/compiler", {"kernels/"}, with_machine("kernels/compiler/")},
    {"numbers_know_no_kernel", "kernels/numeric", {"kernels/"}, with_machine("kernels/numeric/")},
    {"experiments_use_no_tests", "experiments", {"tests/", "systemc", "tlm"}, {}},
};

bool starts_with_any(const std::string& text, const std::vector<std::string>& beginnings) {
  return std::ranges::any_of(beginnings,
                             [&](const std::string& beginning) { return text.starts_with(beginning); });
}

void expect_holds(const Rule& rule) {
  const std::filesystem::path root = WARPSCOPE_SOURCE_DIR;
  const std::regex include("#\\s*include\\s*[<\"]([^>\"]+)[>\"]");
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root / rule.folder)) {
    if (entry.path().extension() != ".cpp" && entry.path().extension() != ".hpp") {
      continue;
    }
    ++files;
    const std::string text = file_text(entry.path());
    for (std::sregex_iterator match(text.begin(), text.end(), include), end; match != end; ++match) {
      const std::string header = (*match)[1];
      EXPECT_FALSE(starts_with_any(header, rule.forbidden) && !starts_with_any(header, rule.allowed))
          << std::filesystem::relative(entry.path(), root).string() << " includes " << header;
    }
  }
  EXPECT_GT(files, 0) << rule.folder;
}

class IncludeDirection : public testing::TestWithParam<Rule> {};

TEST_P(IncludeDirection, Holds) {
  expect_holds(GetParam());
}

INSTANTIATE_TEST_SUITE_P(Folders, IncludeDirection, testing::ValuesIn(kRules),
                         [](const auto& parameter) { return std::string(parameter.param.name); });

// The detailed model can be read without meeting fast mode: one file chooses between them.
TEST(IncludeDirections, OnlySimulateKnowsFastMode) {
  const std::filesystem::path root = WARPSCOPE_SOURCE_DIR;
  std::vector<std::string> users;
  for (const char* folder : {"model", "kernels", "experiments"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder)) {
      const std::string file = std::filesystem::relative(entry.path(), root).string();
      if (entry.is_regular_file() && !file.starts_with("model/fast/") && file.ends_with("pp") &&
          file_text(entry.path()).find("#include \"model/fast/") != std::string::npos) {
        users.push_back(file);
      }
    }
  }
  EXPECT_EQ(users, std::vector<std::string>{"model/gpu/simulate.cpp"});
}

TEST(IncludeDirections, KernelsKnowNotWhatRunsThem) {
  const std::vector<std::string> runs_them = {"kernels/compiler/", "kernels/numeric/"};
  for (const auto& entry : std::filesystem::directory_iterator(WARPSCOPE_SOURCE_DIR "/kernels")) {
    const std::string folder = "kernels/" + entry.path().filename().string();
    if (entry.is_directory() && std::ranges::find(runs_them, folder + "/") == runs_them.end()) {
      expect_holds({folder.c_str(), folder.c_str(), runs_them, {}});
    }
  }
}

}  // namespace
}  // namespace warpscope::cli_test

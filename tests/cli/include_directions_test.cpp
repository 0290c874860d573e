// Includes point one way: experiments -> kernels -> model/trace, experiments -> model, and nothing back.
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

const Rule kRules[] = {
    {"model_knows_no_kernel", "model", {"kernels/", "experiments/", "tests/"}, {}},
    {"base_stands_alone", "model/base", {"model/", "kernels/", "systemc", "tlm"}, {"model/base/"}},
    {"trace_stands_alone",
     "model/trace",
     {"model/", "kernels/", "systemc", "tlm"},
     {"model/base/", "model/trace/"}},
    {"hw_stands_alone", "model/hw", {"model/", "kernels/", "systemc", "tlm"}, {"model/base/", "model/hw/"}},
    {"kernels_see_only_the_trace",
     "kernels",
     {"model/", "experiments/", "tests/", "systemc", "tlm"},
     {"model/trace/"}},
    {"experiments_use_no_tests", "experiments", {"tests/", "systemc", "tlm"}, {}},
};

bool starts_with_any(const std::string& text, const std::vector<std::string>& beginnings) {
  return std::ranges::any_of(beginnings,
                             [&](const std::string& beginning) { return text.starts_with(beginning); });
}

class IncludeDirection : public testing::TestWithParam<Rule> {};

TEST_P(IncludeDirection, Holds) {
  const Rule& rule = GetParam();
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
  EXPECT_GT(files, 0);
}

INSTANTIATE_TEST_SUITE_P(Folders, IncludeDirection, testing::ValuesIn(kRules),
                         [](const auto& parameter) { return std::string(parameter.param.name); });

}  // namespace
}  // namespace warpscope::cli_test

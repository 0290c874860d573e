// --help, the man page and shell completion say what the command line accepts.
#include <gtest/gtest.h>

#include <iterator>
#include <set>
#include <sstream>

#include "tests/cli/program.hpp"

namespace warpscope::cli_test {
namespace {

class Manual : public testing::Test {
 protected:
  std::string out(const Arguments& arguments) {
    const ProgramResult result = run_program(arguments, directory_.path());
    EXPECT_EQ(result.status, 0) << result.err;
    return result.out;
  }
  static bool is_installed(const std::string& program) {
    return run({"sh", "-c", "command -v " + program}, "/").status == 0;
  }
  /// What bash offers behind `line`, whose last word is incomplete.
  std::set<std::string> completed(const std::string& line) {
    const std::string script =
        "PATH=$(dirname \"$0\"):$PATH; eval \"$(\"$0\" completion bash)\"; read -ra COMP_WORDS <<<\"$1\"; "
        "[[ $1 == *' ' ]] && COMP_WORDS+=(''); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); "
        "_warpscope \"$0\" \"${COMP_WORDS[COMP_CWORD]}\" \"${COMP_WORDS[COMP_CWORD - 1]}\"; "
        "printf '%s\\n' \"${COMPREPLY[@]}\"";
    const ProgramResult result = run({"bash", "-c", script, warpscope({}).front(), line}, directory_.path());
    EXPECT_EQ(result.err, "");
    std::istringstream words(result.out);
    return {std::istream_iterator<std::string>(words), std::istream_iterator<std::string>()};
  }

  TemporaryDirectory directory_;
};

const std::vector<Arguments> kVerbs = {{},
                                       {"run"},
                                       {"compare"},
                                       {"sweep"},
                                       {"merge"},
                                       {"study"},
                                       {"plot"},
                                       {"validate"},
                                       {"explain"},
                                       {"list"},
                                       {"list", "gpus"},
                                       {"trace"},
                                       {"trace", "dump"},
                                       {"trace", "check"},
                                       {"config"},
                                       {"config", "show"},
                                       {"config", "check"},
                                       {"completion"},
                                       {"man"}};

TEST_F(Manual, EachHelpFitsTheTerminal) {
  for (Arguments verb : kVerbs) {
    verb.emplace_back("--help");
    const std::string help = out(verb);
    EXPECT_LE(widest_line(help), 80U) << help;
    EXPECT_NE(help.find("\nUsage: warpscope"), std::string::npos) << help;
    EXPECT_NE(help.find("--help"), std::string::npos) << help;
  }
  const std::string plot = out({"plot", "--help"});
  EXPECT_NE(plot.find("\nUsage: warpscope plot [OPTIONS] FILE\n"), std::string::npos) << plot;
  EXPECT_NE(plot.find("\n  -o, --output FILE       SVG file to write (required)\n"), std::string::npos)
      << plot;
  EXPECT_NE(out({"run", "--help"}).find("--causal, --no-causal"), std::string::npos);
}

TEST_F(Manual, ManPageHasEachVerbAndFlag) {
  const std::string page = out({"man"});
  EXPECT_TRUE(page.starts_with(".TH WARPSCOPE 1 ")) << page.substr(0, 80);
  for (const char* text :
       {".SH NAME\nwarpscope \\- a cycle", ".SS warpscope trace dump [OPTIONS]\n",
        ".SS warpscope plot [OPTIONS] FILE\n", "\\fB\\-\\-head\\-dim\\fR \\fIN\\fR\n", ".SH EXIT STATUS\n"}) {
    EXPECT_NE(page.find(text), std::string::npos) << text;
  }
  if (!is_installed("groff")) {
    GTEST_SKIP() << "groff is missing";
  }
  write_text(directory_ / "warpscope.1", page);
  const ProgramResult groff = run({"groff", "-man", "-ww", "-Tutf8", "-z", "warpscope.1"}, directory_.path());
  EXPECT_EQ(groff.status, 0);
  EXPECT_EQ(groff.err, "");
}

TEST_F(Manual, BashCompletesVerbsFlagsAndValues) {
  if (!is_installed("bash")) {
    GTEST_SKIP() << "bash is missing";
  }
  using Words = std::set<std::string>;
  EXPECT_EQ(completed("warpscope sw"), Words{"sweep"});
  EXPECT_EQ(completed("warpscope config s"), Words{"show"});
  EXPECT_EQ(completed("warpscope run --seq"), (Words{"--seqlen", "--seqlen-k", "--seqlens"}));
  EXPECT_EQ(completed("warpscope run --gpu h100-s"), Words{"h100-sxm5-80gb"});
  EXPECT_EQ(completed("warpscope run --kernel stand"), (Words{"standard", "standard_eager"}));
  EXPECT_EQ(completed("warpscope run --mode "), (Words{"detailed", "fast"}));
  EXPECT_EQ(completed("warpscope run --batch "), Words{}) << "only the user knows";
  EXPECT_EQ(completed("warpscope study why"), Words{"why-fa2"});
  write_text(directory_ / "points.csv", "");
  EXPECT_EQ(completed("warpscope sweep --points po"), Words{"points.csv"});
  EXPECT_EQ(completed("warpscope plot po"), Words{"points.csv"});
}

TEST_F(Manual, ZshReadsItsScript) {
  const std::string script = out({"completion", "zsh"});
  EXPECT_TRUE(script.starts_with("#compdef warpscope\n"));
  if (!is_installed("zsh")) {
    GTEST_SKIP() << "zsh is missing";
  }
  write_text(directory_ / "_warpscope", script);
  EXPECT_EQ(run({"zsh", "-n", "_warpscope"}, directory_.path()).err, "");
}

}  // namespace
}  // namespace warpscope::cli_test

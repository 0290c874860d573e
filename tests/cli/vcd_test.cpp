// `warpscope run --vcd`, and detailed mode on several threads.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/cli/program.hpp"
#include "tests/support/vcd_reader.hpp"

namespace warpscope::cli_test {
namespace {

using Json = nlohmann::json;

TEST(CliVcd, WritesSignalsOfTheRun) {
  const TemporaryDirectory directory;
  const ProgramResult result =
      run_program(small_run("fa2", {"--set", "gpu.sm_count=3", "--vcd", "signals", "--json", "run.json"}),
                  directory.path());
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(directory.files(), (std::vector<std::string>{"run.json", "signals"}))
      << "the name that was given";
  EXPECT_NE(result.out.find("for its VCD file this was run in detailed mode."), std::string::npos)
      << result.out;
  EXPECT_EQ(result.out.find("SystemC"), std::string::npos) << result.out;
  std::istringstream text(file_text(directory / "signals"));
  const test::Vcd vcd = test::read_vcd(text);
  EXPECT_EQ(vcd.timescale, "1 fs");
  EXPECT_TRUE(vcd.times_rise);
  const Json run = Json::parse(file_text(directory / "run.json"));
  EXPECT_NEAR(static_cast<double>(vcd.end) / 1e9, run["time_us"].get<double>(), 1e-3);
  EXPECT_EQ(vcd.signals.at("gpu.dispatcher.dispatched_ctas").back().second, 4)
      << "2 heads of 256 tokens, 128 each";
  // Both CTAs of an SM may end in one window.
  EXPECT_EQ(vcd.signals.at("gpu.sm0.resident_ctas").front().second, 2);
  EXPECT_EQ(vcd.signals.at("gpu.sm0.resident_ctas").back().second, 0);
  for (const char* signal :
       {"gpu.sm1.instructions_per_cycle", "gpu.l2.requests_in_flight", "gpu.hbm.read_gb_per_s"}) {
    EXPECT_GT(vcd.signals.at(signal).size(), 2U) << signal;
  }
}

TEST(CliVcd, ChangesNoNumberOfADetailedRun) {
  const TemporaryDirectory directory;
  const Arguments plain = small_run("fa2", {"--mode", "detailed", "--json", "-"});
  Arguments traced = plain;
  traced.insert(traced.end(), {"--vcd", "t.vcd"});
  Json a = Json::parse(run_program(plain, directory.path()).out);
  Json b = Json::parse(run_program(traced, directory.path()).out);
  a.erase("notes");
  b.erase("notes");
  EXPECT_EQ(a, b);
}

TEST(CliThreads, ChangeNoByteOfADetailedRun) {
  const TemporaryDirectory directory;
  for (const char* kernel : {"fa2", "standard"}) {
    const Arguments one = small_run(kernel, {"--mode", "detailed", "--json", "-", "-j", "1"});
    Arguments three = one;
    three.back() = "3";
    const ProgramResult result = run_program(one, directory.path());
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_EQ(run_program(three, directory.path()).out, result.out);
  }
}

}  // namespace
}  // namespace warpscope::cli_test

// `warpscope run`, `list`, `config` and `trace` from outside.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>

#include "tests/cli/program.hpp"

namespace warpscope::cli_test {
namespace {

using Json = nlohmann::ordered_json;

std::vector<std::string> keys(const Json& object) {
  std::vector<std::string> names;
  for (const auto& [name, value] : object.items()) {
    names.push_back(name);
  }
  return names;
}

Json run_json(const Arguments& arguments) {
  const TemporaryDirectory directory;
  const ProgramResult result = run_program(arguments, directory.path());
  EXPECT_EQ(result.status, 0) << result.err;
  return Json::parse(result.out);
}

TEST(CliRun, JsonHasTheDocumentedKeys) {
  const Json json = run_json(small_run("fa2", {"--causal", "--json", "-"}));
  EXPECT_EQ(keys(json), (std::vector<std::string>{"gpu", "set", "kernel", "pass", "problem", "time_us",
                                                  "cycles", "cycles_deviation", "sm_clock_mhz", "power_w",
                                                  "power_limited", "tflops", "limiter", "busy", "launches",
                                                  "metrics", "hbm_traffic", "stalls", "notes"}));
  EXPECT_EQ(json["problem"], Json::parse(R"({"batch":1,"heads":2,"heads_kv":2,"seqlen_q":256,"seqlen_k":256,
                                             "head_dim":64,"causal":true,"dtype":"fp16"})"));
  ASSERT_EQ(json["launches"].size(), 1U);
  EXPECT_EQ(keys(json["launches"][0]),
            (std::vector<std::string>{"name", "grid", "block", "cycles", "time_us", "metrics"}));
  for (const Json& tensor : json["hbm_traffic"]) {
    EXPECT_EQ(keys(tensor),
              (std::vector<std::string>{"tensor", "read_bytes", "write_bytes", "compulsory_bytes",
                                        "l2_read_bytes", "l2_read_hit_bytes", "l2_write_bytes"}));
  }
  for (const char* metric :
       {"dram__bytes_read.sum", "dram__bytes_write.sum", "sm__inst_executed.sum",
        "sm__inst_executed_pipe_tensor_op_hmma.sum", "sm__inst_executed_pipe_fma.sum",
        "sm__inst_executed_pipe_alu.sum", "sm__inst_executed_pipe_xu.sum", "sm__inst_executed_pipe_lsu.sum",
        "smsp__inst_executed_op_ldsm.sum", "smsp__inst_executed_op_ldgsts.sum",
        "smsp__inst_executed_op_shared_ld.sum", "smsp__inst_executed_op_shared_st.sum",
        "smsp__inst_executed_op_global_ld.sum", "smsp__inst_executed_op_global_st.sum",
        "smsp__inst_executed_op_global_red.sum", "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
        "sm__cycles_active.avg", "sm__warps_active.avg.per_cycle_active",
        "smsp__average_warps_issue_stalled_wait_per_issue_active.ratio"}) {
    EXPECT_TRUE(json["metrics"].contains(metric)) << metric;
  }
}

TEST(CliRun, TflopsFollowTheConvention) {
  for (const bool causal : {false, true}) {
    const Json json =
        run_json(small_run("fa2", causal ? Arguments{"--causal", "--json", "-"} : Arguments{"--json", "-"}));
    const double flops = 4.0 * 1 * 2 * 256 * 256 * 64 / (causal ? 2 : 1);
    EXPECT_NEAR(json["tflops"].get<double>(), flops / json["time_us"].get<double>() / 1e6, 1e-9);
  }
}

TEST(CliRun, MetricsOfSeveralLaunchesAddUp) {
  const Json json = run_json(small_run("standard", {"--json", "-"}));
  ASSERT_GT(json["launches"].size(), 2U);
  std::int64_t cycles = 0;
  double instructions = 0;
  for (const Json& launch : json["launches"]) {
    cycles += launch["cycles"].get<std::int64_t>();
    instructions += launch["metrics"]["sm__inst_executed.sum"].get<double>();
  }
  EXPECT_EQ(json["cycles"], cycles);
  EXPECT_EQ(json["metrics"]["sm__inst_executed.sum"].get<double>(), instructions);
}

TEST(CliRun, TrafficOfTensorsAddsUpToTheMetric) {
  const Json json = run_json(small_run("fa2", {"--json", "-"}));
  double read = 0;
  double written = 0;
  for (const Json& tensor : json["hbm_traffic"]) {
    read += tensor["read_bytes"].get<double>();
    written += tensor["write_bytes"].get<double>();
  }
  EXPECT_EQ(json["metrics"]["dram__bytes_read.sum"].get<double>(), read);
  EXPECT_EQ(json["metrics"]["dram__bytes_write.sum"].get<double>(), written);
}

TEST(CliRun, StallRatiosFollowFromStallCycles) {
  const Json json = run_json(small_run("fa2", {"--mode", "detailed", "--json", "-"}));
  const double issued = json["metrics"]["sm__inst_executed.sum"];
  EXPECT_EQ(json["stalls"]["selected"].get<double>(), issued);
  for (const auto& [reason, cycles] : json["stalls"].items()) {
    const std::string metric = "smsp__average_warps_issue_stalled_" + reason + "_per_issue_active.ratio";
    EXPECT_NEAR(json["metrics"][metric].get<double>(), cycles.get<double>() / issued, 1e-12) << reason;
  }
}

TEST(CliRun, StatsAreOneJsonLineOnStandardError) {
  const TemporaryDirectory directory;
  const ProgramResult result = run_program(small_run("fa2", {"--stats", "--json", "-"}), directory.path());
  EXPECT_EQ(std::ranges::count(result.err, '\n'), 1);
  EXPECT_EQ(keys(Json::parse(result.err)),
            (std::vector<std::string>{"mode", "warp_instructions_total", "warp_instructions_executed",
                                      "wall_s", "cycles_deviation"}));
  EXPECT_TRUE(Json::accept(result.out));
}

TEST(CliRun, SaysHowNearToDetailedModeASampleIs) {
  const TemporaryDirectory directory;
  const auto cycles_line = [&](const std::vector<std::string>& arguments) {
    const std::string report = run_program(arguments, directory.path()).out;
    const std::size_t begin = report.find("  cycles");
    return report.substr(begin, report.find('\n', begin) - begin);
  };
  EXPECT_EQ(cycles_line(small_run("fa2", {})).find("±"), std::string::npos);
  const std::string sampled = cycles_line({"run", "--gpu", "h100-sxm5-80gb", "--kernel", "fa2", "--batch",
                                           "1", "--heads", "16", "--seqlen", "16384", "--head-dim", "128"});
  EXPECT_TRUE(std::regex_search(sampled, std::regex("± [1-5]\\.[0-9] % against --mode detailed"))) << sampled;
}

TEST(CliRun, WritesFilesBesideTheReport) {
  const TemporaryDirectory directory;
  const ProgramResult result =
      run_program(small_run("fa2", {"--json", "run.json", "--report", "run.txt"}), directory.path());
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(directory.files(), (std::vector<std::string>{"run.json", "run.txt"}));
  EXPECT_EQ(file_text(directory / "run.txt"), result.out);
  EXPECT_EQ(Json::parse(file_text(directory / "run.json"))["kernel"], "fa2");
}

TEST(CliRun, PipesAreWrittenToAndStay) {
  const TemporaryDirectory directory;
  const std::filesystem::path pipe = directory.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  ASSERT_GE(reader, 0);
  const ProgramResult result = run_program(small_run("fa2", {"--json", pipe.string()}), directory.path());
  EXPECT_EQ(result.status, 0) << result.err;
  std::string text(std::size_t{1} << 16, '\0');
  const ssize_t read = ::read(reader, text.data(), text.size());
  ::close(reader);
  ASSERT_GT(read, 0);
  text.resize(static_cast<std::size_t>(read));
  EXPECT_TRUE(Json::parse(text).contains("cycles"));
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
}

// Through a link, so that a program that puts a file in its place does no harm.
TEST(CliRun, DevicesAreWrittenToAndStay) {
  const TemporaryDirectory directory;
  std::filesystem::create_symlink("/dev/null", directory / "null");
  const ProgramResult result = run_program(small_run("fa2", {"--json", "null"}), directory.path());
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(directory.files(), std::vector<std::string>{"null"});
  EXPECT_TRUE(std::filesystem::is_symlink(directory / "null"));
  EXPECT_TRUE(std::filesystem::is_character_file(directory / "null"));
}

TEST(CliRun, RunsADumpedTraceLikeItsKernel) {
  const TemporaryDirectory directory;
  Arguments dump = small_run("fa2");
  dump[0] = "dump";
  dump.insert(dump.begin(), "trace");
  dump.insert(dump.end(), {"-o", "fa2.trace"});
  ASSERT_EQ(run_program(dump, directory.path()).status, 0);
  const ProgramResult check = run_program({"trace", "check", "fa2.trace"}, directory.path());
  EXPECT_EQ(check.status, 0);
  EXPECT_TRUE(check.out.starts_with("fa2.trace: fine; ")) << check.out;
  const Json trace =
      run_json({"run", "--gpu", "h200-sxm-141gb", "--trace", directory / "fa2.trace", "--json", "-"});
  EXPECT_EQ(trace["cycles"], run_json(small_run("fa2", {"--json", "-"}))["cycles"]);
}

TEST(CliRun, ChangesOfTheGpuAreStated) {
  const Json json = run_json(small_run("fa2", {"--set", "sm.xu.lanes=8", "--json", "-"}));
  EXPECT_EQ(json["set"], Json::parse(R"(["sm.xu.lanes=8"])"));
  const TemporaryDirectory directory;
  const std::string page =
      run_program(small_run("fa2", {"--set", "sm.xu.lanes=8", "--set", "l2.ways=8"}), directory.path()).out;
  EXPECT_NE(page.find("\n  changed: sm.xu.lanes=8 l2.ways=8\n"), std::string::npos) << page;
}

TEST(CliRun, ChangesOfTheGpuTakeEffect) {
  const Json slow = run_json(small_run("fa2", {"--set", "clock.tensor_mhz=900", "--json", "-"}));
  EXPECT_EQ(slow["sm_clock_mhz"], 900);
}

TEST(CliRun, ATraceNeedsNoTensors) {
  // What its only traffic is, code, stands behind the tensors, of which there are none.
  const TemporaryDirectory directory;
  const std::string trace = WARPSCOPE_SOURCE_DIR "/experiments/traces/hmma.trace";
  const ProgramResult result = run_program(
      {"run", "--gpu", "h200-sxm-141gb", "--trace", trace, "--mode", "detailed"}, directory.path());
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_NE(result.out.find("\n  code "), std::string::npos) << result.out;
}

TEST(CliRun, DeadlocksAreReported) {
  const TemporaryDirectory directory;
  const std::string trace = WARPSCOPE_SOURCE_DIR "/experiments/traces/deadlock_barrier_order.trace";
  const ProgramResult result =
      run_program({"run", "--gpu", "h200-sxm-141gb", "--trace", trace}, directory.path());
  EXPECT_EQ(result.status, 2);
  EXPECT_TRUE(result.err.starts_with("warpscope: deadlock in launch 'order' on SM 0: ")) << result.err;
}

TEST(CliConfig, ShowsOriginsAndChecksFiles) {
  const TemporaryDirectory directory;
  const ProgramResult shown =
      run_program({"config", "show", "h200-sxm-141gb", "--set", "sm.xu.lanes=32"}, directory.path());
  EXPECT_NE(shown.out.find("--set sm.xu.lanes=32"), std::string::npos);
  EXPECT_EQ(run_program({"config", "check", "h200-sxm-141gb"}, directory.path()).out,
            "h200-sxm-141gb: fine\n");
  write_text(directory / "bad.toml", "base = \"h200-sxm-141gb\"\n[sm.xu]\nlames = 3\n");
  const ProgramResult bad = run_program({"config", "check", "bad.toml"}, directory.path());
  EXPECT_EQ(bad.status, 2);
  EXPECT_TRUE(bad.err.starts_with("warpscope: bad.toml:3: sm.xu.lames")) << bad.err;
}

TEST(CliList, NamesWhatOtherVerbsAccept) {
  const TemporaryDirectory directory;
  EXPECT_NE(run_program({"list", "gpus"}, directory.path()).out.find("\nh200-sxm-141gb "), std::string::npos);
  EXPECT_NE(run_program({"list", "kernels"}, directory.path()).out.find("\nfa2 "), std::string::npos);
  EXPECT_NE(run_program({"list", "studies"}, directory.path()).out.find("\nwhy-fa2 "), std::string::npos);
  EXPECT_TRUE(run_program({"--version"}, directory.path()).out.starts_with("warpscope "));
  EXPECT_NE(run_program({"--help"}, directory.path()).out.find("sweep"), std::string::npos);
}

TEST(CliList, FindsDescriptionsInTheFolderOfTheEnvironment) {
  const TemporaryDirectory directory;
  std::filesystem::copy(WARPSCOPE_SOURCE_DIR "/hwconfigs/a100-sxm4-80gb.toml", directory / "mine.toml");
  const ProgramResult result =
      run_program({"list", "gpus"}, directory.path(), {"WARPSCOPE_HWCONFIGS=" + directory.path().string()});
  EXPECT_NE(result.out.find("\nmine "), std::string::npos) << result.out;
  EXPECT_EQ(result.out.find("h200"), std::string::npos);
}

}  // namespace
}  // namespace warpscope::cli_test

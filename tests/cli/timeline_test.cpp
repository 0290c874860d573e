// `warpscope run --timeline`: the file keeps the rules of Chrome's trace-event format.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/cli/program.hpp"

namespace warpscope::cli_test {
namespace {

using Json = nlohmann::json;
using Track = std::pair<int, int>;

/// A run on a GPU with few SMs, whose file stays small.
Json timeline(const std::string& kernel, const Arguments& more, ProgramResult* result = nullptr) {
  const TemporaryDirectory directory;
  Arguments arguments = small_run(kernel, {"--set", "gpu.sm_count=3", "--timeline", "t.json"});
  arguments.insert(arguments.end(), more.begin(), more.end());
  const ProgramResult ran = run_program(arguments, directory.path());
  EXPECT_EQ(ran.status, 0) << ran.err;
  if (result != nullptr) {
    *result = ran;
  }
  return Json::parse(file_text(directory / "t.json"));
}

std::int64_t nanoseconds(const Json& microseconds) {
  return std::llround(microseconds.get<double>() * 1e3);
}

void expect_format(const Json& document) {
  EXPECT_EQ(document["displayTimeUnit"], "ns");
  std::set<int> processes;
  std::set<Track> threads;
  std::map<Track, std::int64_t> ends;
  for (const Json& event : document["traceEvents"]) {
    const std::string phase = event["ph"];
    const int process = event["pid"];
    if (phase == "M") {
      const std::string name = event["name"];
      if (name == "process_name") {
        EXPECT_TRUE(processes.insert(process).second) << "a name for each process";
      } else if (name == "thread_name") {
        EXPECT_TRUE(threads.insert({process, event["tid"]}).second) << "a name for each thread";
      }
      EXPECT_TRUE(event["args"].contains(name.ends_with("_name") ? "name" : "sort_index"));
      continue;
    }
    EXPECT_GE(nanoseconds(event["ts"]), 0);
    EXPECT_TRUE(processes.contains(process)) << event;
    if (phase == "C") {
      for (const auto& [name, value] : event["args"].items()) {
        EXPECT_GE(value.get<double>(), 0) << name;
      }
      continue;
    }
    ASSERT_EQ(phase, "X") << event;
    const Track track{process, event["tid"]};
    EXPECT_TRUE(threads.contains(track)) << event;
    EXPECT_GE(nanoseconds(event["dur"]), 0);
    EXPECT_LE(ends[track], nanoseconds(event["ts"])) << "sorted, none over another: " << event;
    ends[track] = nanoseconds(event["ts"]) + nanoseconds(event["dur"]);
    EXPECT_FALSE(event["name"].get<std::string>().empty());
  }
}

std::map<std::string, int> categories(const Json& document) {
  std::map<std::string, int> counts;
  for (const Json& event : document["traceEvents"]) {
    ++counts[event.value("cat", event["ph"].get<std::string>())];
  }
  return counts;
}

TEST(CliTimeline, KeepsTheRulesOfTheFormat) {
  for (const char* kernel : {"fa2", "fa1", "standard"}) {
    SCOPED_TRACE(kernel);
    const Json document = timeline(kernel, {});
    expect_format(document);
    std::map<std::string, int> counts = categories(document);
    for (const char* category : {"cta", "issue", "stall", "pipe", "C"}) {
      EXPECT_GT(counts[category], 0) << category;
    }
    EXPECT_TRUE(document["otherData"]["mode"].get<std::string>().starts_with("detailed"));
  }
}

TEST(CliTimeline, ShowsEveryCtaAndTheCopiesOfOneSm) {
  const Json document = timeline("fa2", {});
  std::map<std::string, int> counts = categories(document);
  EXPECT_EQ(counts["cta"], 4);  // 2 heads of 256 tokens, 128 each
  EXPECT_GT(counts["copy"], 3);
  EXPECT_GT(counts["barrier"], 3);
}

TEST(CliTimeline, LongestFileSaysWhereItStops) {
  ProgramResult result;
  const Json document = timeline("fa2", {"--seqlen-k", "8192", "--timeline-size", "1"}, &result);
  expect_format(document);
  EXPECT_NE(document["otherData"]["warps"].get<std::string>().find("stopped there"), std::string::npos);
  EXPECT_NE(result.out.find("as long as it may be"), std::string::npos);
}

TEST(CliTimeline, WindowAndSm) {
  const Json document = timeline("fa2", {"--timeline-window", "3000:5000", "--timeline-sm", "2"});
  expect_format(document);
  for (const Json& event : document["traceEvents"]) {
    if (event.value("cat", "") == "stall") {
      EXPECT_EQ(event["pid"], 4);
      EXPECT_GE(event["args"]["cycle"], 3000);
      EXPECT_LE(event["args"]["cycle"].get<int>() + event["args"]["cycles"].get<int>(), 5000);
    }
  }
}

TEST(CliTimeline, ChangesNoNumberOfADetailedRun) {
  const TemporaryDirectory directory;
  const Arguments plain = small_run("fa2", {"--mode", "detailed", "--json", "-"});
  Arguments recorded = plain;
  recorded.insert(recorded.end(), {"--timeline", "t.json"});
  Json a = Json::parse(run_program(plain, directory.path()).out);
  Json b = Json::parse(run_program(recorded, directory.path()).out);
  a.erase("notes");
  b.erase("notes");
  EXPECT_EQ(a, b);
}

}  // namespace
}  // namespace warpscope::cli_test

// `warpscope hotspots`: rows add up to what the run counted, and say what instructions came from.
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/cli/program.hpp"

namespace warpscope::cli_test {
namespace {

using Json = nlohmann::json;

Arguments hotspots(const std::string& kernel, const Arguments& more) {
  Arguments arguments = small_run(kernel, more);
  arguments[0] = "hotspots";
  return arguments;
}

Json hotspots_json(const std::string& kernel) {
  const TemporaryDirectory directory;
  const ProgramResult result = run_program(hotspots(kernel, {"--json", "-"}), directory.path());
  EXPECT_EQ(result.status, 0) << result.err;
  return Json::parse(result.out);
}

void add_stalls(std::map<std::string, std::uint64_t>& sums, const Json& row) {
  for (const auto& [reason, cycles] : row["stalls"].items()) {
    sums[reason] += cycles.get<std::uint64_t>();
  }
}

TEST(CliHotspots, RowsAddUpToTheTotalsOfTheRun) {
  for (const char* kernel : {"fa2", "fa1", "standard"}) {
    SCOPED_TRACE(kernel);
    const Json json = hotspots_json(kernel);
    std::map<std::string, std::uint64_t> operations;
    std::map<std::string, std::uint64_t> instructions;
    std::uint64_t issued = 0;
    for (const Json& launch : json["hotspots"]) {
      for (const Json& program : launch["programs"]) {
        for (const Json& row : program["operations"]) {
          add_stalls(operations, row);
          issued += row["issued"].get<std::uint64_t>();
        }
        for (const Json& row : program["instructions"]) {
          add_stalls(instructions, row);
        }
      }
    }
    EXPECT_EQ(operations, instructions);
    EXPECT_EQ(issued, json["metrics"]["sm__inst_executed.sum"]);
    for (const auto& [reason, cycles] : json["stalls"].items()) {
      EXPECT_EQ(operations[reason], cycles.get<std::uint64_t>()) << reason;
    }
  }
}

TEST(CliHotspots, InstructionsComeFromOperationsOfTheKernel) {
  const Json json = hotspots_json("fa2");
  std::set<std::string> operations;
  for (const Json& row : json["hotspots"][0]["programs"][0]["instructions"]) {
    const std::string opcode = row["opcode"];
    const std::string operation = row["operation"];
    operations.insert(operation);
    if (opcode.starts_with("HMMA") || opcode.starts_with("LDSM")) {
      EXPECT_TRUE(operation.starts_with("mma ")) << opcode << " in " << operation;
    } else if (opcode.starts_with("LDGSTS")) {
      EXPECT_TRUE(operation.starts_with("copy_async ")) << operation;
    } else if (opcode == "EXIT") {
      EXPECT_EQ(operation, "control flow");
    }
  }
  for (const char* operation :
       {"mma shared x shared", "mma registers x shared", "exp2_scaled", "copy_async K", "copy_async V",
        "reduce_rows max", "multiply", "barrier", "store O"}) {
    EXPECT_TRUE(operations.contains(operation)) << operation;
  }
}

TEST(CliHotspots, TextHasTheOperationsAndInstructionsIfAskedFor) {
  const TemporaryDirectory directory;
  const ProgramResult brief = run_program(hotspots("fa2", {}), directory.path());
  EXPECT_EQ(brief.status, 0) << brief.err;
  EXPECT_NE(brief.out.find("exp2_scaled"), std::string::npos);
  EXPECT_EQ(brief.out.find("MUFU.EX2"), std::string::npos);
  const ProgramResult whole = run_program(hotspots("fa2", {"--instructions"}), directory.path());
  EXPECT_NE(whole.out.find("MUFU.EX2"), std::string::npos);
  EXPECT_TRUE(whole.out.starts_with(brief.out.substr(0, brief.out.size() - 1)));
}

}  // namespace
}  // namespace warpscope::cli_test

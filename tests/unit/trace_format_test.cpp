// The documentation of the text format lists the opcodes that there are.
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <utility>

#include "model/trace/opcode.hpp"

namespace warpscope::trace {
namespace {

using PipeAndName = std::pair<std::string, std::string>;

/// The rows "| `pipe` | NAME, NAME |" below "## Opcodes".
std::multiset<PipeAndName> documented_opcodes() {
  std::ifstream file(WARPSCOPE_SOURCE_DIR "/model/trace/FORMAT.md");
  std::multiset<PipeAndName> result;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    inside = line.starts_with("## ") ? line == "## Opcodes" : inside;
    if (!inside || !line.starts_with("| `")) {
      continue;
    }
    const std::string pipe = line.substr(3, line.find('`', 3) - 3);
    std::istringstream names(line.substr(line.find('|', 2) + 1));
    for (std::string name; names >> name;) {
      if (name != "|") {
        result.emplace(pipe, name.ends_with(',') ? name.substr(0, name.size() - 1) : name);
      }
    }
  }
  return result;
}

TEST(TraceFormat, DocumentsEachOpcodeWithItsPipe) {
  std::multiset<PipeAndName> known;
  for (const OpcodeInfo& opcode : all_opcodes()) {
    known.emplace(name(opcode.pipe), opcode.name);
  }
  EXPECT_EQ(documented_opcodes(), known);
}

}  // namespace
}  // namespace warpscope::trace

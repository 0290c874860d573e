#include "tests/validation/compiled_loops.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <stdexcept>
#include <string_view>

#include "model/trace/text_reader.hpp"

namespace warpscope::validation {
namespace {

/// "ffma" of "ffma:256".
std::string_view instruction_of(std::string_view role) {
  return role.substr(0, role.find(':'));
}

std::string launch_name(const MeasuredRow& row) {
  std::string name = fmt::format("{}_{}", row.group, instruction_of(row.name));
  if (!row.other.empty()) {
    name += fmt::format("_{}", instruction_of(row.other));
  }
  if (row.group == "op" || row.group == "mix") {
    name += fmt::format("_{}", row.n);
  }
  std::ranges::replace_if(
      name, [](unsigned char letter) { return std::isalnum(letter) == 0; }, '_');
  return name;
}

}  // namespace

const trace::Launch* find_compiled_loop(const MeasuredRow& row) {
  static const trace::Trace kLoops =
      trace::read_text_file(WARPSCOPE_SOURCE_DIR "/tests/validation/data/microbenchmark_loops.trace");
  const auto found = std::ranges::find(kLoops.launches, launch_name(row), &trace::Launch::name);
  return found == kLoops.launches.end() ? nullptr : &*found;
}

const trace::Launch& compiled_loop(const MeasuredRow& row) {
  const trace::Launch* const loop = find_compiled_loop(row);
  if (loop == nullptr) {
    throw std::invalid_argument(fmt::format("no machine code of {} is recorded", row.id()));
  }
  return *loop;
}

}  // namespace warpscope::validation

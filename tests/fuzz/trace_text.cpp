// Traces as text: what is read can be written, read again and counted.
#include <sstream>

#include "model/trace/statistics.hpp"
#include "model/trace/text_reader.hpp"
#include "model/trace/text_writer.hpp"
#include "tests/fuzz/targets.hpp"

namespace warpscope::fuzz {
namespace {

void count(const trace::Trace& trace) {
  try {
    trace::total(trace::executed_instructions(trace));
    trace::requested_bytes(trace);
  } catch (const std::invalid_argument& error) {
    require_one_line(error.what());  // more than 64 bits
  }
}

}  // namespace

bool trace_text(std::string_view input) {
  std::istringstream stream{std::string(input)};
  trace::Trace trace;
  try {
    trace = trace::read_text(stream, "fuzz");
  } catch (const trace::TraceError& error) {
    require_one_line(error.what());
    require(std::string_view(error.what()).starts_with("fuzz:"), error.what());
    return false;
  }
  std::istringstream written(trace::to_text(trace));
  require(trace::read_text(written, "written") == trace, "what was written reads otherwise");
  count(trace);
  return true;
}

}  // namespace warpscope::fuzz

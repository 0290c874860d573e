// A trace that obeys all rules, and what is said of it once it has been damaged.
#pragma once

#include <functional>
#include <sstream>
#include <string>

#include "model/trace/text_reader.hpp"
#include "model/trace/trace_error.hpp"

namespace warpscope::trace {

/// Two warps, a loop around a load from K, a class for each x.
inline Trace valid_trace() {
  std::istringstream input(
      "warpscope_trace 1\ntensor K input segments=2 segment_bytes=64\nlaunch l {\n grid 2 3 1\n threads 64\n"
      " program p {\n  loop n=slot0 {\n   LDG.32 R0, R1 [K offset=i0*4+sym0 bytes=4]\n   BAR.SYNC 0\n   "
      "BRA\n  }\n"
      "  EXIT\n }\n class programs=p*2 trips=1 symbols=0\n class programs=p*2 trips=2 symbols=1\n class_x 0 "
      "1\n}\nend\n");
  return read_text(input, "valid");
}

/// What validation says of that trace behind `damage`.
inline std::string error_after(const std::function<void(Trace&, Launch&, WarpProgram&)>& damage) {
  Trace trace = valid_trace();
  damage(trace, trace.launches[0], trace.launches[0].programs[0]);
  try {
    validate(trace);
  } catch (const ValidationError& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace warpscope::trace

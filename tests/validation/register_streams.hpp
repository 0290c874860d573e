// Streams of chosen machine code (experiments/reference/measured-h200/register_ports.csv) as traces.
#pragma once

#include <string>
#include <vector>

#include "model/trace/launch.hpp"

namespace warpscope::validation {

/// One measured row of the kind `loop`: a stream that is repeated without end.
struct RegisterStream {
  int warps_per_sub_core = 0;
  double cycles = 0;  ///< of one pass of the stream
  std::string stream;
};

/// Every `one_of`-th row. Throws UsageError for a malformed file.
std::vector<RegisterStream> load_register_streams(const std::string& file, int one_of);

/// Two launches of one CTA, which go through the stream 2 n and n times in each of kTrips rounds of a loop.
/// Registers that the row does not flag for reuse are others of the same bank where they would be at hand.
/// Throws std::invalid_argument for an instruction that the streams do not have.
trace::Trace stream_trace(const RegisterStream& row);

/// Cycles of one pass of the stream from those of the two launches.
double cycles_of_stream(const RegisterStream& row, double twice, double once);

}  // namespace warpscope::validation

// Streams of chosen machine code (register_ports.csv and issue_turns.csv of the reference data) as traces.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
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

/// One measured row of issue_turns.csv: two warps of a sub-core, each in its own stream.
struct IssueTurns {
  bool is_drawn = false;
  std::array<std::string, 2> streams;  ///< the older warp's first, as issue_turns.md has it
  std::array<std::optional<double>, 2>
      cycles;  ///< between two reads of the clock, if it does so often enough
};

/// Throws UsageError for a malformed file.
std::vector<IssueTurns> load_issue_turns(const std::string& file);

/// A launch of two CTAs of four warps, one for each stream, which go through it again and again in a loop of
/// kInstructionsOfTurns instructions.
trace::Trace turns_trace(const IssueTurns& row);
constexpr std::size_t kInstructionsOfTurns = 208;

}  // namespace warpscope::validation

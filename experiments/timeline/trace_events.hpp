// Events of Chrome's trace format, bounded in number of bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warpscope::experiments {

/// Where an event is drawn.
struct Track {
  int process = 0;
  int thread = 0;

  auto operator<=>(const Track&) const = default;
};

/// Collects events and writes as many as fit, in order of time. Times are nanoseconds; the format has
/// microseconds. `arguments` are members of a JSON object, without its braces.
class TraceEvents {
 public:
  /// Events of one track are added in their order and do not overlap.
  void complete(Track track, std::int64_t begin_ns, std::int64_t end_ns, std::string_view name,
                std::string_view category, std::string_view arguments);
  /// From `begin_ns` on the counter has the values named in `arguments`.
  void counter(int process, std::int64_t begin_ns, std::string_view name, std::string_view arguments);
  /// Appends events, comma and line break in front of each, to `json` until it has `most_bytes`. Returns the
  /// time of the first event that was left out.
  std::optional<std::int64_t> append_to(std::string& json, std::size_t most_bytes);

 private:
  struct Event {
    std::int64_t begin_ns = 0;
    std::string text;
  };
  std::vector<Event> events_;
};

/// `text` as a JSON string.
std::string json_string(std::string_view text);

/// The events that name processes and threads and say in which order they are drawn.
std::string process_names(int process, std::string_view name, int rank);
std::string thread_names(Track track, std::string_view name);

}  // namespace warpscope::experiments

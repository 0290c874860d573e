#include "experiments/timeline/trace_events.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace warpscope::experiments {
namespace {

/// Microseconds with all digits that a nanosecond has.
std::string microseconds(std::int64_t ns) {
  constexpr std::int64_t kPerMicrosecond = 1000;
  return fmt::format("{}.{:03}", ns / kPerMicrosecond, ns % kPerMicrosecond);
}

std::string metadata(Track track, std::string_view what, std::string_view arguments) {
  return fmt::format(",\n{{\"ph\":\"M\",\"pid\":{},\"tid\":{},\"name\":\"{}\",\"args\":{{{}}}}}",
                     track.process, track.thread, what, arguments);
}

}  // namespace

std::string json_string(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void TraceEvents::complete(Track track, std::int64_t begin_ns, std::int64_t end_ns, std::string_view name,
                           std::string_view category, std::string_view arguments) {
  events_.push_back(
      {begin_ns,
       fmt::format(R"({{"ph":"X","pid":{},"tid":{},"ts":{},"dur":{},"name":{},"cat":"{}","args":{{{}}}}})",
                   track.process, track.thread, microseconds(begin_ns), microseconds(end_ns - begin_ns),
                   json_string(name), category, arguments)});
}

void TraceEvents::counter(int process, std::int64_t begin_ns, std::string_view name,
                          std::string_view arguments) {
  events_.push_back({begin_ns, fmt::format(R"({{"ph":"C","pid":{},"ts":{},"name":{},"args":{{{}}}}})",
                                           process, microseconds(begin_ns), json_string(name), arguments)});
}

std::optional<std::int64_t> TraceEvents::append_to(std::string& json, std::size_t most_bytes) {
  // Those of one track do not overlap and come in their order, which the shortest need: a nanosecond may hold
  // the begin of several.
  std::ranges::stable_sort(events_, {}, &Event::begin_ns);
  constexpr std::string_view kSeparator = ",\n";
  for (const Event& event : events_) {
    if (json.size() + kSeparator.size() + event.text.size() > most_bytes) {
      return event.begin_ns;
    }
    json += kSeparator;
    json += event.text;
  }
  return std::nullopt;
}

std::string process_names(int process, std::string_view name, int rank) {
  return metadata({process, 0}, "process_name", "\"name\":" + json_string(name)) +
         metadata({process, 0}, "process_sort_index", fmt::format("\"sort_index\":{}", rank));
}

std::string thread_names(Track track, std::string_view name) {
  return metadata(track, "thread_name", "\"name\":" + json_string(name)) +
         metadata(track, "thread_sort_index", fmt::format("\"sort_index\":{}", track.thread));
}

}  // namespace warpscope::experiments

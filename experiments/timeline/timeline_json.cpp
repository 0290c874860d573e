#include "experiments/timeline/timeline_json.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "experiments/timeline/trace_events.hpp"

namespace warpscope::experiments {
namespace {

using metrics::CycleSpan;
using metrics::TimelineData;
using metrics::TimelineLaunch;

/// The process of the whole GPU; the one of SM n comes n places behind it.
constexpr int kGpuProcess = 1;
constexpr int kFirstSmProcess = 2;

/// Threads of the recorded SM, behind those of the CTA slots: their numbers are their order, too.
constexpr int kFirstCopy = 1000;
constexpr int kFirstBarrier = 2000;
constexpr int kDataPath = 3000;
constexpr int kFirstSubCore = 10000;
constexpr int kPerSubCore = 1000;
constexpr int kFirstWarp = 100;
/// Copies and barriers of one slot may overlap; each has a few threads.
constexpr int kLanes = 30;

class Writer {
 public:
  Writer(const TimelineData& data, std::size_t most_bytes) : data_(data), most_bytes_(most_bytes) {}

  TimelineText write(const TimelineFacts& facts) {
    add_ctas();
    add_counters();
    add_warps();
    add_pipes();
    add_copies();
    add_barriers();
    TimelineText text;
    std::string events;
    for (const auto& [process, name] : processes_) {
      events += process_names(process, name, process);
    }
    for (const auto& [track, name] : threads_) {
      events += thread_names(track, name);
    }
    const std::size_t names = events.size();
    const auto ctas_end = chip_.append_to(events, names + most_bytes_);
    const auto warps_end = sm_.append_to(events, names + most_bytes_);
    const std::string ctas = state("CTAs and counters", data_.cta_window, data_.ctas_stopped, ctas_end, text);
    const std::string warps = state(fmt::format("warps, pipes, copies and barriers of SM {}", data_.sm),
                                    data_.sm_window, data_.sm_stopped, warps_end, text);
    text.json = "{\"displayTimeUnit\":\"ns\",\"otherData\":{";
    for (const auto& [name, value] : facts) {
      text.json += fmt::format("{}:{},", json_string(name), json_string(value));
    }
    text.json += fmt::format("\"time\":{},\"ctas\":{},\"warps\":{}}},\n\"traceEvents\":[",
                             json_string("ts and dur in microseconds of GPU time, rounded to nanoseconds; "
                                         "\"cycle\" counts SM cycles since the first launch began, and "
                                         "launches follow one another without a gap"),
                             json_string(ctas), json_string(warps));
    text.json += events.empty() ? "" : events.substr(1);
    text.json += "\n]}\n";
    return text;
  }

 private:
  std::int64_t nanoseconds(const TimelineLaunch& launch, std::int64_t cycle) const {
    const double us = launch.begin_us + static_cast<double>(cycle - launch.span.begin) / launch.sm_clock_mhz;
    return std::llround(us * 1e3);
  }
  std::int64_t cycle_at(std::int64_t ns) const {
    const TimelineLaunch* launch = &data_.launches.front();
    for (const TimelineLaunch& other : data_.launches) {
      launch = other.begin_us * 1e3 <= static_cast<double>(ns) ? &other : launch;
    }
    return launch->span.begin +
           std::llround((static_cast<double>(ns) / 1e3 - launch->begin_us) * launch->sm_clock_mhz);
  }

  /// What of a window is in the file, for its reader; also a remark where that is not all.
  std::string state(const std::string& what, CycleSpan window, bool stopped,
                    const std::optional<std::int64_t>& left_out_ns, TimelineText& text) const {
    window = window.within({0, data_.launches.empty() ? 0 : data_.launches.back().span.end});
    if (left_out_ns) {
      window.end = std::min(window.end, cycle_at(*left_out_ns));
    }
    std::string range = fmt::format("{} from cycle {} to {}", what, window.begin, window.end);
    if (!stopped && !left_out_ns) {
      return range;
    }
    text.remarks.push_back(fmt::format("the timeline has {}, where it was as long as it may be.", range));
    return range + "; stopped there because the file was as long as it may be";
  }

  void add(TraceEvents& events, Track track, CycleSpan span, std::string_view name, std::string_view category,
           const std::string& arguments = "") {
    const TimelineLaunch& launch = data_.launch_at(span.begin);
    events.complete(track, nanoseconds(launch, span.begin), nanoseconds(launch, span.end), name, category,
                    fmt::format("\"cycle\":{},\"cycles\":{}{}{}", span.begin, span.cycles(),
                                arguments.empty() ? "" : ",", arguments));
  }

  int sm_process(int sm) {
    processes_.try_emplace(kFirstSmProcess + sm, fmt::format("SM {}", sm));
    return kFirstSmProcess + sm;
  }
  /// A thread of the recorded SM.
  Track sm_thread(int thread, const std::string& name) {
    const Track track{sm_process(data_.sm), thread};
    threads_.try_emplace(track, name);
    return track;
  }

  void add_ctas() {
    for (const metrics::TimelineCta& cta : data_.ctas) {
      const Track track{sm_process(cta.sm), cta.slot + 1};
      threads_.try_emplace(track, fmt::format("CTA slot {}", cta.slot));
      const auto [x, y, z] = cta.block;
      add(chip_, track, cta.span, fmt::format("CTA {} ({}, {}, {})", cta.number, x, y, z), "cta",
          fmt::format("\"cta\":{},\"block\":[{},{},{}],\"class\":{},\"launch\":{}", cta.number, x, y, z,
                      cta.cta_class, json_string(data_.launches[cta.launch].name)));
    }
  }

  void add_counters() {
    for (std::size_t i = 0; i < data_.moved.size(); ++i) {
      const metrics::TimelineMoved& moved = data_.moved[i];
      const TimelineLaunch& launch = data_.launch_at(moved.span.begin);
      const double ns = static_cast<double>(moved.span.cycles()) * 1e3 / launch.sm_clock_mhz;
      const auto rate = [&](std::uint64_t bytes) { return ns > 0 ? static_cast<double>(bytes) / ns : 0; };
      const metrics::MovedBytes& bytes = moved.bytes;
      rates(nanoseconds(launch, moved.span.begin), rate(bytes.hbm_read), rate(bytes.hbm_write),
            rate(bytes.l2_read_hit), rate(bytes.l2_read - bytes.l2_read_hit), rate(bytes.l2_write));
      const bool last = i + 1 == data_.moved.size() || data_.moved[i + 1].span.begin >= launch.span.end;
      if (last) {
        rates(nanoseconds(launch, moved.span.end), 0, 0, 0, 0, 0);
      }
    }
  }
  void rates(std::int64_t ns, double hbm_read, double hbm_write, double l2_hit, double l2_miss,
             double l2_write) {
    processes_.try_emplace(kGpuProcess, "GPU");
    chip_.counter(kGpuProcess, ns, "HBM GB/s",
                  fmt::format("\"read\":{:.1f},\"write\":{:.1f}", hbm_read, hbm_write));
    chip_.counter(kGpuProcess, ns, "L2 GB/s",
                  fmt::format("\"read hits\":{:.1f},\"read misses\":{:.1f},\"write\":{:.1f}", l2_hit, l2_miss,
                              l2_write));
  }

  int sub_core_thread(int sub_core, int number) const {
    return kFirstSubCore + sub_core * kPerSubCore + number;
  }

  void add_warps() {
    for (const metrics::TimelineWarp& warp : data_.warps) {
      const TimelineLaunch& launch = data_.launch_at(warp.span.begin);
      const int sub_core = warp.warp % launch.sub_cores;
      const Track track =
          sm_thread(sub_core_thread(sub_core, kFirstWarp + warp.warp),
                    fmt::format("sub-core {} warp {} (slot {}, warp {})", sub_core, warp.warp,
                                warp.warp / launch.warps_per_cta, warp.warp % launch.warps_per_cta));
      if (warp.instructions > 0) {
        add(sm_, track, warp.span, trace::name(warp.pipe), "issue",
            fmt::format("\"instructions\":{}", warp.instructions));
      } else {
        add(sm_, track, warp.span, metrics::name(warp.stall), "stall");
      }
    }
  }

  void add_pipes() {
    for (const metrics::TimelinePipe& pipe : data_.pipes) {
      const std::string name(pipe.sub_core < 0 ? "data path" : trace::name(pipe.pipe));
      const Track track = pipe.sub_core < 0
                              ? sm_thread(kDataPath, "shared memory data path")
                              : sm_thread(sub_core_thread(pipe.sub_core, static_cast<int>(pipe.pipe)),
                                          fmt::format("sub-core {} {} pipe", pipe.sub_core, name));
      add(sm_, track, pipe.span, name, "pipe", fmt::format("\"instructions\":{}", pipe.instructions));
    }
  }

  /// The first of the threads from `first` on that is free from the begin of the span on.
  int free_lane(int first, CycleSpan span) {
    int lane = 0;
    while (lane + 1 < kLanes && lane_ends_[first + lane] > span.begin) {
      ++lane;
    }
    lane_ends_[first + lane] = span.end;
    return lane;
  }

  /// Threads are given out in order of begin, so that none has two spans at a time.
  template <class Span>
  static std::vector<Span> by_begin(std::vector<Span> spans) {
    std::ranges::stable_sort(spans, {}, [](const Span& span) { return span.span.begin; });
    return spans;
  }

  void add_copies() {
    for (const metrics::TimelineCopy& copy : by_begin(data_.copies)) {
      const int first = kFirstCopy + copy.slot * kLanes;
      const int lane = free_lane(first, copy.span);
      std::string name;
      for (const std::uint16_t tensor : copy.tensors) {
        name += (name.empty() ? "" : ", ") + data_.launch_at(copy.span.begin).tensors.at(tensor);
      }
      add(sm_, sm_thread(first + lane, fmt::format("slot {} async copies {}", copy.slot, lane)), copy.span,
          name, "copy", fmt::format("\"instructions\":{},\"bytes\":{}", copy.instructions, copy.bytes));
    }
  }

  void add_barriers() {
    for (const metrics::TimelineBarrier& barrier : by_begin(data_.barriers)) {
      const int first = kFirstBarrier + barrier.slot * kLanes;
      const int lane = free_lane(first, barrier.span);
      add(sm_, sm_thread(first + lane, fmt::format("slot {} barriers {}", barrier.slot, lane)), barrier.span,
          fmt::format("barrier {}", barrier.barrier), "barrier");
    }
  }

  const TimelineData& data_;
  std::size_t most_bytes_;
  std::map<int, std::string> processes_;
  std::map<Track, std::string> threads_;
  std::map<int, std::int64_t> lane_ends_;
  TraceEvents chip_;  ///< CTAs and counters
  TraceEvents sm_;    ///< what the recorded SM does
};

}  // namespace

TimelineText timeline_json(const TimelineData& data, const TimelineFacts& facts, std::size_t most_bytes) {
  return Writer(data, most_bytes).write(facts);
}

}  // namespace warpscope::experiments

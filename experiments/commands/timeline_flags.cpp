#include "experiments/commands/timeline_flags.hpp"

#include <fmt/format.h>

#include <charconv>

#include "experiments/base/files.hpp"
#include "experiments/base/printable.hpp"
#include "experiments/base/usage_error.hpp"
#include "experiments/commands/file_flag.hpp"
#include "experiments/timeline/timeline_json.hpp"

namespace warpscope::experiments {
namespace {

/// What an SM does is recorded of so many cycles, unless a window is given.
constexpr std::int64_t kFirstCycles = 20000;
constexpr std::size_t kBytesPerMegabyte = 1000000;
/// No event is shorter than this, so more of them would not be written.
constexpr std::size_t kLeastBytesPerSpan = 64;

TimelineFacts facts(const Run& run) {
  TimelineFacts facts = {{"gpu", run.config.gpu.name},
                         {"mode", "detailed: every warp instruction of every SM was executed"}};
  for (const std::string& change : run.overrides) {
    facts.emplace_back("set", change);
  }
  if (run.point) {
    const kernels::Problem& problem = run.point->problem;
    facts.emplace_back("kernel", run.point->kernel);
    facts.emplace_back("problem",
                       fmt::format("batch {}, {} heads, {} for K and V, {} queries, {} keys, d {}{}",
                                   problem.batch, problem.heads, problem.heads_kv, problem.seqlen_q,
                                   problem.seqlen_k, problem.head_dim, problem.causal ? ", causal" : ""));
  } else {
    facts.emplace_back("trace", run.trace_file);
  }
  return facts;
}

}  // namespace

void TimelineFlags::add_to(CLI::App& app) {
  add_file_flag(app, "--timeline", file_,
                "write what ran where and when, for\n"
                "ui.perfetto.dev; runs in detailed mode");
  app.add_option("--timeline-window", window_,
                 "only cycles A to B (default: CTAs of the\nwhole run, warps of the first 20000 cycles)")
      ->type_name("A:B");
  app.add_option("--timeline-sm", sm_, "SM whose warps and pipes to show (default:\nthe first with work)")
      ->type_name("N");
  app.add_option("--timeline-size", megabytes_, "megabytes that FILE may have (default: 20)")->type_name("N");
}

metrics::CycleSpan TimelineFlags::window() const {
  metrics::CycleSpan span;
  const char* const end = window_.data() + window_.size();
  const auto first = std::from_chars(window_.data(), end, span.begin);
  const bool has_colon = first.ec == std::errc() && first.ptr != end && *first.ptr == ':';
  const auto second = has_colon ? std::from_chars(first.ptr + 1, end, span.end) : first;
  if (!has_colon || second.ec != std::errc() || second.ptr != end || span.begin < 0 ||
      span.end <= span.begin) {
    throw UsageError(
        fmt::format("--timeline-window {}: not a window; legal is A:B, two numbers of cycles from 0 on, the "
                    "second larger",
                    in_quotes(window_)));
  }
  return span;
}

void TimelineFlags::check() const {
  const char* const lonely = !window_.empty()   ? "--timeline-window"
                             : sm_ != -1        ? "--timeline-sm"
                             : megabytes_ != 20 ? "--timeline-size"
                                                : nullptr;
  if (file_.empty() && lonely != nullptr) {
    throw UsageError(fmt::format("{} goes with --timeline FILE only", lonely));
  }
  if (file_ == "-") {
    throw UsageError("--timeline '-': is a file's name here; standard output has the report");
  }
  if (!window_.empty()) {
    window();
  }
  constexpr int kMostMegabytes = 1000;
  if (megabytes_ < 1 || megabytes_ > kMostMegabytes) {
    throw UsageError(
        fmt::format("--timeline-size '{}': legal is 1 to {} megabytes", megabytes_, kMostMegabytes));
  }
}

std::optional<metrics::TimelineRequest> TimelineFlags::request(const hw::HwConfig& config) const {
  if (file_.empty()) {
    return std::nullopt;
  }
  if (sm_ != -1 && (sm_ < 0 || sm_ >= config.gpu.sm_count)) {
    throw UsageError(fmt::format("--timeline-sm '{}': legal is 0 to {}", sm_, config.gpu.sm_count - 1));
  }
  metrics::TimelineRequest request;
  request.sm = sm_;
  request.cta_window = window_.empty() ? metrics::kAlways : window();
  request.sm_window = window_.empty() ? metrics::CycleSpan{0, kFirstCycles} : window();
  request.most_spans = static_cast<std::size_t>(megabytes_) * kBytesPerMegabyte / kLeastBytesPerSpan;
  return request;
}

void TimelineFlags::write(const metrics::TimelineData& data, Run& run) const {
  const TimelineText text =
      timeline_json(data, facts(run), static_cast<std::size_t>(megabytes_) * kBytesPerMegabyte);
  write_file(file_, text.json);
  run.remarks.emplace_back("for its timeline this was run in detailed mode.");
  run.remarks.insert(run.remarks.end(), text.remarks.begin(), text.remarks.end());
}

}  // namespace warpscope::experiments

#include "experiments/commands/run_page_file.hpp"

#include "experiments/data/forward_reference.hpp"
#include "model/metrics/timeline_recorder.hpp"

namespace warpscope::experiments {
namespace {

constexpr std::size_t kReferencePoints = 4;
/// A second or so in detailed mode.
constexpr std::uint64_t kMostInstructions = 30'000'000;
/// Of which what an SM does is recorded; the page shows some of their middle.
constexpr metrics::CycleSpan kRecorded{0, 20000};

metrics::TimelineData record(const Run& run) {
  metrics::TimelineRequest request;
  request.sm_window = kRecorded;
  metrics::TimelineRecorder recorder(request);
  ModelChoice model{run.gpu, run.overrides, run.options};
  model.options.mode = gpu::Mode::detailed;
  model.options.observer = &recorder;
  if (run.point) {
    run_point({model, run.point->kernel, run.point->problem});
  } else {
    run_trace_file(model, run.trace_file);
  }
  return recorder.take();
}

}  // namespace

std::string run_page_file(const Run& run, RunExtras extras, const PoolOptions& workers) {
  if (run.point) {
    extras.references =
        nearest_references(*run.point, page_observations(reference_directory()), kReferencePoints);
    add_model(extras.references, workers);
  }
  if (!extras.timeline && run.result.warp_instructions_total <= kMostInstructions) {
    extras.timeline = record(run);
  }
  return html(run_page(run, extras));
}

}  // namespace warpscope::experiments

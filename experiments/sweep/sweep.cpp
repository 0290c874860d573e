#include "experiments/sweep/sweep.hpp"

#include <fmt/format.h>

#include <array>
#include <filesystem>

#include "experiments/base/output.hpp"
#include "experiments/base/usage_error.hpp"
#include "experiments/batch/simulate_points.hpp"
#include "experiments/store/model_version.hpp"
#include "experiments/store/result_store.hpp"
#include "experiments/sweep/altered_results.hpp"
#include "experiments/sweep/finished.hpp"

namespace warpscope::experiments {
namespace {

/// The outcome of a point that has been simulated.
FindOutcome outcomes_in(ResultStore& store) {
  return [&store](const std::string& key) {
    return store.find(key).value_or(Outcome{Fate::died, "not simulated"});
  };
}

SweepSummary summary_of_share(std::span<const KeyedPoint> share, const FindOutcome& find) {
  SweepSummary summary;
  for (const KeyedPoint& point : share) {
    summary.add(find(point.key).fate);
  }
  return summary;
}

SweepSummary write(const SweepOptions& options, const SweepRows& rows, ResultStore& store) {
  try {
    return write_outputs(options.outputs, rows, outcomes_in(store));
  } catch (const FileError& error) {
    throw FileError(store.is_in_place() ? fmt::format("{}; the results are safe in {}, go on with --resume",
                                                      error.what(), store.file().string())
                                        : fmt::format("{}; {} is gone too, and with it the results",
                                                      error.what(), store.file().string()));
  }
}

}  // namespace

std::string default_store(const SweepOptions& options) {
  return options.shard ? fmt::format("{}.{}-of-{}.store", options.outputs.csv, options.shard->index,
                                     options.shard->count)
                       : fmt::format("{}.store", options.outputs.csv);
}

SweepSummary run_sweep(const SweepOptions& options, PointSimulator& simulator, Workers& workers) {
  const SweepRows rows(options.points, options.defaults, simulator);
  const bool own_store = options.store.empty();
  const std::string store_file = own_store ? default_store(options) : options.store;
  check_outputs(options.shard ? SweepOutputs{} : options.outputs, rows.inputs(),
                std::array{NamedFile{own_store ? "its store" : "--store", store_file}});
  if (options.resume && !options.shard && !(own_store && std::filesystem::exists(store_file))) {
    if (const std::optional<SweepSummary> finished = finished_before(options.outputs, rows)) {
      print_error(fmt::format("{}: the sweep is finished, nothing to do", options.outputs.csv));
      return *finished;
    }
  }
  ResultStore store(store_file,
                    own_store && !options.resume ? ResultStore::Use::fresh : ResultStore::Use::go_on,
                    model_version());
  warn_of_altered(store, "are simulated again");
  if (options.shard) {
    const std::vector<KeyedPoint> share = share_of(*options.shard, rows.points());
    simulate_points(share, store, workers, "sweep");
    return summary_of_share(share, outcomes_in(store));
  }
  simulate_points(rows.points(), store, workers, "sweep");
  const SweepSummary summary = write(options, rows, store);
  if (summary.died == 0) {
    mark_finished(options.outputs, rows, summary);
    if (own_store) {
      store.remove();
    }
  }
  return summary;
}

}  // namespace warpscope::experiments

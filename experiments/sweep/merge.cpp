#include "experiments/sweep/merge.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <map>
#include <set>

#include "experiments/base/files.hpp"
#include "experiments/base/usage_error.hpp"
#include "experiments/point/point_json.hpp"
#include "experiments/store/model_version.hpp"
#include "experiments/store/result_store.hpp"
#include "experiments/sweep/altered_results.hpp"

namespace warpscope::experiments {
namespace {

/// Outcomes of the points of a sweep, gathered from one store after another.
class Gathered {
 public:
  explicit Gathered(std::vector<KeyedPoint> points) : points_(std::move(points)) {}

  void add(ResultStore& store) {
    for (const KeyedPoint& point : points_) {
      if (const std::optional<Outcome> outcome = store.find(point.key)) {
        add(point, *outcome, store.file().string());
      }
    }
  }

  const Outcome* find(const std::string& key) const {
    const auto found = found_.find(key);
    return found == found_.end() ? nullptr : &found->second.outcome;
  }

  std::string overlap() const {
    return twice_ == 0
               ? std::string()
               : fmt::format(
                     "{} of {} points are in more than one store, with the same results; {} and {} overlap",
                     twice_, points_.size(), first_overlap_.first, first_overlap_.second);
  }

 private:
  struct Found {
    Outcome outcome;
    std::string store;
  };

  void add(const KeyedPoint& point, const Outcome& outcome, const std::string& store) {
    const auto [place, is_new] = found_.try_emplace(point.key, Found{outcome, store});
    Found& found = place->second;
    if (is_new || outcome.fate == Fate::died) {
      return;
    }
    if (found.outcome.fate == Fate::died) {
      found = {outcome, store};
    } else if (found.outcome != outcome) {
      throw UsageError(fmt::format("{} and {} have different results for {}; one of them is wrong",
                                   found.store, store, describe(point.point)));
    } else if (twice_++ == 0) {
      first_overlap_ = {found.store, store};
    }
  }

  std::vector<KeyedPoint> points_;
  std::map<std::string, Found> found_;
  std::size_t twice_ = 0;
  std::pair<std::string, std::string> first_overlap_;
};

void check_files(const MergeOptions& options, const SweepRows& rows) {
  std::set<std::filesystem::path> names;
  std::vector<NamedFile> inputs = rows.inputs();
  for (const std::string& store : options.stores) {
    inputs.push_back({"STORE", store});
    if (!names.insert(place_of(store)).second) {
      throw UsageError(fmt::format("{}: named twice; each store is legal once", store));
    }
  }
  check_outputs(options.outputs, inputs, {});
}

/// Throws UsageError that names the lines of the points file whose point nobody simulated.
void check_complete(const MergeOptions& options, const SweepRows& rows, const Gathered& gathered) {
  constexpr std::size_t kNamed = 8;
  std::vector<std::size_t> lines;
  for (std::size_t row = 0; row < rows.rows().size(); ++row) {
    if (rows.rows()[row].error.empty() && gathered.find(rows.rows()[row].point.key) == nullptr) {
      lines.push_back(rows.file().line(row));
    }
  }
  if (lines.empty()) {
    return;
  }
  const std::size_t named = std::min(lines.size(), kNamed);
  throw UsageError(
      fmt::format("{}: {} of {} points are in no store, those of line{} {}{}; was each shard run to its end, "
                  "with the same "
                  "--gpu, --set, --mode and --l2?",
                  options.points, lines.size(), rows.rows().size(), lines.size() == 1 ? "" : "s",
                  fmt::join(std::span(lines).first(named), ", "), named < lines.size() ? ", ..." : ""));
}

}  // namespace

MergeSummary merge_stores(const MergeOptions& options, PointSimulator& simulator) {
  const SweepRows rows(options.points, options.defaults, simulator);
  check_files(options, rows);
  Gathered gathered(rows.points());
  for (const std::string& file : options.stores) {
    ResultStore store(file, ResultStore::Use::read_only, model_version());
    warn_of_altered(store, "are left out");
    gathered.add(store);
  }
  check_complete(options, rows, gathered);
  const FindOutcome find = [&](const std::string& key) { return *gathered.find(key); };
  return {write_outputs(options.outputs, rows, find), gathered.overlap()};
}

}  // namespace warpscope::experiments

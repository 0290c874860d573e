#include "experiments/sweep/sweep.hpp"

#include <fmt/format.h>

#include <exception>
#include <optional>
#include <vector>

#include "experiments/base/files.hpp"
#include "experiments/base/progress.hpp"
#include "experiments/base/worker_pool.hpp"
#include "experiments/sweep/journal.hpp"
#include "experiments/sweep/model_columns.hpp"
#include "experiments/sweep/points_file.hpp"
#include "model/hw/config_loader.hpp"

namespace warpscope::experiments {
namespace {

/// A row that can be run.
struct Task {
  std::size_t row = 0;
  Point point;
  std::string key;
};

class Sweep {
 public:
  explicit Sweep(const SweepOptions& options)
      : points_(options.points, options.defaults), journal_(options.output), cells_(points_.size()) {
    if (options.resume) {
      journal_.load();
    }
    for (std::size_t row = 0; row < points_.size(); ++row) {
      prepare(row);
    }
    journal_.open();
  }

  void run(int workers) {
    Progress progress("sweep", tasks_.size());
    const auto job = [&](std::size_t index) { return model_cells(run_point(tasks_[index].point)); };
    const auto done = [&](std::size_t index, const JobOutcome& outcome) {
      const Task& task = tasks_[index];
      if (outcome.ok) {
        cells_[task.row] = outcome.text;
        journal_.add(task.key, outcome.text);
      } else {
        fail(task.row, outcome.text);
      }
      progress.advance();
    };
    run_in_processes(tasks_.size(), workers, job, done);
  }

  void write(PendingFile& output) {
    output.write(fmt::format("{},{}\n", points_.header_text(), model_header()));
    for (std::size_t row = 0; row < cells_.size(); ++row) {
      output.write(fmt::format("{},{}\n", points_.row_text(row), cells_[row]));
    }
    output.commit();
    journal_.remove();
  }

  SweepSummary summary() const { return {cells_.size(), failed_}; }

 private:
  /// Makes row a task, or fills its cells where it needs no simulation.
  void prepare(std::size_t row) {
    try {
      Task task{row, points_.point(row), {}};
      task.key = journal_key(task.point);
      if (const std::string* known = journal_.find(task.key)) {
        cells_[row] = *known;
      } else {
        tasks_.push_back(std::move(task));
      }
    } catch (const std::exception& error) {
      fail(row, error.what());
    }
  }

  void fail(std::size_t row, const std::string& error) {
    cells_[row] = error_cells(error);
    ++failed_;
  }

  PointsFile points_;
  Journal journal_;
  std::vector<std::string> cells_;
  std::vector<Task> tasks_;
  std::size_t failed_ = 0;
};

}  // namespace

SweepSummary run_sweep(const SweepOptions& options) {
  if (!options.defaults.gpu.empty()) {
    // A GPU for all rows that is unknown is a mistake of the command, not of every row.
    hw::load(options.defaults.gpu, options.defaults.overrides, config_directory());
  }
  // Opened for a moment only: a sweep that is killed leaves its journal and nothing else.
  static_cast<void>(PendingFile(options.output));
  Sweep sweep(options);
  sweep.run(options.workers);
  PendingFile output(options.output);
  sweep.write(output);
  return sweep.summary();
}

}  // namespace warpscope::experiments

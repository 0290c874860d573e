// Sweeps in a directory of their own, and what their store holds.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "experiments/store/model_version.hpp"
#include "experiments/store/result_store.hpp"
#include "tests/cli/sweep_files.hpp"

namespace warpscope::cli_test {

using Names = std::vector<std::string>;

/// Runs sweeps of points.csv into out.csv.
class SweepStore : public testing::Test {
 protected:
  ProgramResult sweep(const Arguments& more = {}) {
    return run_program(sweep_of_points(more), directory_.path());
  }
  std::string output() { return file_text(directory_ / "out.csv"); }
  std::size_t stored(const std::string& name = "out.csv.store") {
    return experiments::ResultStore(directory_ / name, experiments::ResultStore::Use::read_only,
                                    experiments::model_version())
        .size();
  }
  /// Replaces each result of the store by one that no simulation has.
  void mark(const std::string& name) { change_results(directory_ / name, "cycles", 77777); }
  /// Rows of the output with such a result.
  std::size_t marked() {
    const std::string text = output();
    std::size_t count = 0;
    for (std::size_t at = 0; (at = text.find(",77777,", at)) != std::string::npos; ++at) {
      ++count;
    }
    return count;
  }

  TemporaryDirectory directory_;
};

}  // namespace warpscope::cli_test

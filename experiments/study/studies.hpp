// The studies: experiments with a question, a report and plots.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "experiments/workers/pool_options.hpp"

namespace warpscope::experiments {

struct StudyOptions {
  std::string directory;  ///< where the outputs go
  PoolOptions workers;
  bool resume = false;   ///< use points that an interrupted run into the same directory had finished
  std::string report{};  ///< a file that gets the report too, as a page where its name says so; may be empty
};

struct Study {
  std::string_view name;
  std::string_view description;
  void (*run)(const StudyOptions& options);
};

std::span<const Study> all_studies();
/// Throws UsageError that lists the legal names.
const Study& find_study(std::string_view name);

}  // namespace warpscope::experiments

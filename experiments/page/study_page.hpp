// The page of a study.
#pragma once

#include <string_view>

#include "experiments/page/page.hpp"
#include "experiments/study/study_run.hpp"

namespace warpscope::experiments {

/// The ladder where the study has one, then its charts with their data, and its report. Throws
/// nlohmann::json::exception where a ladder lacks something.
Page study_page(std::string_view name, const StudyOutput& output);

}  // namespace warpscope::experiments

// The columns that a sweep adds to each row.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "experiments/store/point_result.hpp"

namespace warpscope::experiments {

inline constexpr std::array<std::string_view, 6> kModelColumns = {
    "model_time_us",         "model_cycles",           "model_tflops",
    "model_dram_read_bytes", "model_dram_write_bytes", "model_error"};

/// The cells of a row that ran, and of one that did not, separated by commas.
std::string model_cells(const PointResult& result);
std::string error_cells(const std::string& error);
/// The names of the columns, separated by commas.
std::string model_header();

}  // namespace warpscope::experiments

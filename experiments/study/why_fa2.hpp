// The study why-fa2: why FlashAttention-2 is faster than FlashAttention-1 and standard attention.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "experiments/plot/bar_chart.hpp"
#include "experiments/study/forward_grid.hpp"
#include "experiments/study/studies.hpp"

namespace warpscope::experiments {

/// Simulates the grid, prints the report, writes CSV, JSON, text and plots.
void run_why_fa2(const StudyOptions& options);

/// Parts of the report, from finished points.
std::string grid_table(const GridGpu& gpu, std::span<const GridPoint> points);
std::string error_table(std::span<const GridPoint> points);
std::string where_time_goes(std::span<const GridPoint> points);
std::string grid_report(std::span<const GridPoint> points);

std::string grid_csv(std::span<const GridPoint> points);
nlohmann::ordered_json grid_json(std::span<const GridPoint> points);

/// TFLOP/s of one GPU, model beside reference; and HBM bytes of the three methods.
BarChart speed_chart(const GridGpu& gpu, std::span<const GridPoint> points);
BarChart traffic_chart(const GridGpu& gpu, std::span<const GridPoint> points);

}  // namespace warpscope::experiments

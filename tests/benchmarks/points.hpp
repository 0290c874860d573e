// Points that several benchmarks run.
#pragma once

#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>

#include "experiments/point/point.hpp"
#include "model/hw/hw_config.hpp"

namespace warpscope::benchmarks {

/// A forward point with as many queries as keys.
experiments::Point forward_point(const std::string& kernel, std::int64_t batch, std::int64_t heads,
                                 std::int64_t seqlen, std::int64_t head_dim);

/// The description of the A100, on which the benchmarks run.
hw::HwConfig benchmark_gpu();

/// Builds the trace and simulates it, again and again. An item is a warp instruction of the kernel, stepped
/// or not.
void run_point(benchmark::State& state, const experiments::Point& point, const hw::HwConfig& config);

}  // namespace warpscope::benchmarks

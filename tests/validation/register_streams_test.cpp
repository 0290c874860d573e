// Streams whose registers, stall counts and reuse flags are known, on the model and on an H100.
#include "tests/validation/register_streams.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cmath>

#include "model/gpu/simulate.hpp"
#include "model/hw/config_loader.hpp"

namespace warpscope::validation {
namespace {

const std::string kSource = WARPSCOPE_SOURCE_DIR;
constexpr int kOneOf = 3;  ///< of the rows, to be quick
constexpr double kNear = 0.05;

TEST(RegisterStreams, TakeTheCyclesThatTheyTakeOnHardware) {
  const hw::HwConfig config = hw::load("h200-sxm-141gb", {}, kSource + "/hwconfigs").config;
  gpu::SimulationOptions options;
  options.mode = gpu::Mode::detailed;
  double sum = 0;
  int near = 0;
  int rows = 0;
  for (const RegisterStream& row :
       load_register_streams(kSource + "/experiments/reference/measured-h200/register_ports.csv", kOneOf)) {
    const trace::Trace trace = stream_trace(row);
    trace::validate(trace);
    const auto launches = gpu::simulate(config, trace, options).launches;
    const double model = cycles_of_stream(row, static_cast<double>(launches[0].cycles),
                                          static_cast<double>(launches[1].cycles));
    const double error = std::abs(model / row.cycles - 1);
    sum += error;
    near += error <= kNear ? 1 : 0;
    ++rows;
    EXPECT_LT(error, 0.6) << row.stream << ": model " << model << ", measured " << row.cycles;
  }
  fmt::print("{} of {} streams within {:.0f} %, mean {:.2f} %\n", near, rows, 100 * kNear, 100 * sum / rows);
  ASSERT_GT(rows, 400);
  EXPECT_GT(near, 0.65 * rows);
  EXPECT_LT(sum / rows, 0.055);
}

}  // namespace
}  // namespace warpscope::validation

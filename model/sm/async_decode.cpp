#include "model/sm/async_decode.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/numeric/conversion/cast.hpp>
#include <limits>
#include <stdexcept>

namespace warpscope::sm {
namespace {

/// That an instruction holds, and longer than any GPU needs.
constexpr int kLongestInterval = std::numeric_limits<std::uint16_t>::max();

}  // namespace

void set_wgmma(DecodedInstruction& out, const hw::Sm& sm, int bytes, int wavefronts) {
  const int rate = sm.tensor.wgmma.flops_per_clk;  // 0: require_units() refuses the launch
  const auto flops = static_cast<int>(trace::info(out.opcode).flops);
  out.interval = static_cast<std::uint16_t>(rate == 0 ? 1 : std::clamp(flops / rate, 1, kLongestInterval));
  out.data_cycles = boost::numeric_cast<std::uint16_t>(std::max(wavefronts, bytes / sm.shared.bytes_per_clk));
}

void require_units(const hw::HwConfig& config, const std::string& name, const DecodedLaunch& launch) {
  for (const DecodedInstruction& instruction : launch.code) {
    const bool multiplies = instruction.op_class == trace::OpClass::wgmma;
    const bool lacks = (multiplies && config.sm.tensor.wgmma.flops_per_clk == 0) ||
                       (trace::is_bulk_copy(instruction.op_class) && config.sm.bulk.latency_cycles == 0);
    if (lacks) {
      throw std::invalid_argument(fmt::format("launch '{}' executes {}, which {} does not have", name,
                                              trace::info(instruction.opcode).name, config.id));
    }
  }
}

}  // namespace warpscope::sm

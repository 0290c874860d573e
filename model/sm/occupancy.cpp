#include "model/sm/occupancy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace warpscope::sm {
namespace {

int round_up(int value, int unit) {
  return (value + unit - 1) / unit * unit;
}

void require(bool fits, const trace::Launch& launch, std::string_view what, std::uint64_t need, int limit,
             const hw::HwConfig& config) {
  if (!fits) {
    throw std::invalid_argument(fmt::format("launch '{}' needs {} {} but {} has at most {}", launch.name,
                                            need, what, config.id, limit));
  }
}

}  // namespace

metrics::Occupancy occupancy(const hw::HwConfig& config, const trace::Launch& launch) {
  const hw::Sm& sm = config.sm;
  const int warps = static_cast<int>(trace::warps_per_cta(launch));
  const std::uint32_t registers = launch.registers_per_thread;
  require(launch.threads_per_cta <= static_cast<std::uint32_t>(sm.max_threads_per_cta), launch,
          "threads per CTA", launch.threads_per_cta, sm.max_threads_per_cta, config);
  require(registers <= static_cast<std::uint32_t>(sm.max_registers_per_thread), launch,
          "registers per thread", registers, sm.max_registers_per_thread, config);
  require(launch.shared_bytes_per_cta <= static_cast<std::uint32_t>(sm.shared.bytes_per_cta), launch,
          "bytes of shared memory per CTA", launch.shared_bytes_per_cta, sm.shared.bytes_per_cta, config);

  metrics::Occupancy result;
  const int per_warp = std::max(1, round_up(static_cast<int>(registers) * 32, sm.register_allocation_unit));
  const int warps_by_registers = sm.registers / sm.sub_cores / per_warp * sm.sub_cores;
  result.limit_registers = warps_by_registers / warps;
  const int shared =
      round_up(static_cast<int>(launch.shared_bytes_per_cta) + sm.shared.reserved_bytes_per_cta,
               sm.shared.allocation_bytes);
  // A launch that takes none, not even a reserve, is not limited by it.
  result.limit_shared_memory = shared > 0 ? sm.shared.bytes / shared : sm.max_ctas;
  result.limit_warps = sm.max_warps / warps;
  result.limit_ctas = sm.max_ctas;
  require(result.limit_registers > 0, launch, "registers per CTA",
          static_cast<std::uint64_t>(per_warp) * static_cast<std::uint64_t>(warps), sm.registers, config);
  require(result.limit_shared_memory > 0, launch, "bytes of shared memory per CTA, reserve included",
          static_cast<std::uint64_t>(shared), sm.shared.bytes, config);
  require(result.limit_warps > 0, launch, "warps per CTA", static_cast<std::uint64_t>(warps), sm.max_warps,
          config);
  result.ctas_per_sm =
      std::min({result.limit_registers, result.limit_shared_memory, result.limit_warps, result.limit_ctas});
  return result;
}

}  // namespace warpscope::sm

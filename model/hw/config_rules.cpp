#include "model/hw/config_rules.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdint>

#include "model/hw/config_schema.hpp"
#include "model/hw/model_room.hpp"

namespace warpscope::hw {
namespace {

enum class Relation { at_most, multiple_of };

/// `left` stands in `relation` to `right`.
struct PairRule {
  std::string_view left;
  Relation relation;
  std::string_view right;
};

constexpr std::array pair_rules{
    PairRule{"clock.tensor_mhz", Relation::at_most, "clock.max_mhz"},
    PairRule{"sm.max_warps", Relation::multiple_of, "sm.sub_cores"},
    PairRule{"sm.registers", Relation::multiple_of, "sm.register_allocation_unit"},
    PairRule{"sm.icache.l0_bytes", Relation::at_most, "sm.icache.l1_bytes"},
    PairRule{"sm.icache.l0_bytes", Relation::multiple_of, "sm.icache.line_bytes"},
    PairRule{"sm.icache.l1_bytes", Relation::multiple_of, "sm.icache.line_bytes"},
    PairRule{"sm.icache.l1_line_cycles", Relation::at_most, "sm.icache.l1_fill_cycles"},
    PairRule{"sm.icache.l1_fill_cycles", Relation::at_most, "sm.icache.l2_fill_cycles"},
    PairRule{"sm.icache.l2_fill_cycles", Relation::at_most, "sm.icache.memory_fill_cycles"},
    PairRule{"sm.shared.bytes_per_cta", Relation::at_most, "sm.shared.bytes"},
    PairRule{"sm.shared.bytes", Relation::multiple_of, "sm.shared.allocation_bytes"},
    PairRule{"sm.shared.sub_core_bytes_per_clk", Relation::at_most, "sm.shared.bytes_per_clk"},
    PairRule{"sm.global.reduce_interval_cycles", Relation::at_most, "sm.global.reduce_sustained_cycles"},
    PairRule{"sm.global.reduce_whole_entries", Relation::at_most, "sm.global.reduce_buffer_entries"},
    PairRule{"l2.sm_bytes_per_clk", Relation::at_most, "l2.bytes_per_clk"},
};

/// Pipes take a whole number of cycles per warp instruction.
constexpr std::array lane_keys{"sm.fma.lanes", "sm.imad.lanes", "sm.alu.lanes", "sm.xu.lanes"};

constexpr int warp_size = 32;
constexpr int warps_per_sub_core = kMostWarps / kMostSubCores;

double number(std::string_view key, const HwConfig& config) {
  const Field field = find_key(key)->field(const_cast<HwConfig&>(config));
  if (const auto* const wide = std::get_if<std::int64_t*>(&field)) {
    return static_cast<double>(**wide);
  }
  if (const auto* const fraction = std::get_if<double*>(&field)) {
    return **fraction;
  }
  return *std::get<int*>(field);
}

bool is_capability(const std::string& text) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  return text.size() == 3 && digit(text[0]) && text[1] == '.' && digit(text[2]);
}

}  // namespace

std::vector<BrokenRule> broken_rules(const HwConfig& config) {
  std::vector<BrokenRule> broken;
  for (const PairRule& rule : pair_rules) {
    const double left = number(rule.left, config);
    const double right = number(rule.right, config);
    if (rule.relation == Relation::at_most && left > right) {
      broken.push_back({rule.left, fmt::format("{} is more than {} ({})", left, rule.right, right)});
    }
    if (rule.relation == Relation::multiple_of && std::fmod(left, right) != 0) {
      broken.push_back({rule.left, fmt::format("{} is not a multiple of {} ({})", left, rule.right, right)});
    }
  }
  for (const std::string_view key : lane_keys) {
    if (const double lanes = number(key, config); std::fmod(warp_size, lanes) != 0) {
      broken.push_back({key, fmt::format("{} does not divide the {} threads of a warp", lanes, warp_size)});
    }
  }
  const SharedMemory& shared = config.sm.shared;
  if (const int needed = shared.bytes_per_cta + shared.reserved_bytes_per_cta;
      shared.bytes_per_cta <= shared.bytes && needed > shared.bytes) {
    broken.push_back(
        {"sm.shared.bytes_per_cta",
         fmt::format("{} with sm.shared.reserved_bytes_per_cta is {}, more than sm.shared.bytes ({})",
                     shared.bytes_per_cta, needed, shared.bytes)});
  }
  if (const int most = warp_size * config.sm.max_warps; config.sm.max_threads_per_cta > most) {
    broken.push_back({"sm.max_threads_per_cta", fmt::format("{} is more than {} x sm.max_warps ({})",
                                                            config.sm.max_threads_per_cta, warp_size, most)});
  }
  if (const int most = warps_per_sub_core * config.sm.sub_cores; config.sm.max_warps > most) {
    broken.push_back({"sm.max_warps", fmt::format("{} is more than {} x sm.sub_cores ({})",
                                                  config.sm.max_warps, warps_per_sub_core, most)});
  }
  const InstructionCache& icache = config.sm.icache;
  const auto lines = std::int64_t{icache.l0_bytes} / icache.line_bytes;
  if (lines < kInstructionWays || lines > kMostInstructionLines) {
    broken.push_back(
        {"sm.icache.l0_bytes", fmt::format("{} is not {} to {} x sm.icache.line_bytes ({})", icache.l0_bytes,
                                           kInstructionWays, kMostInstructionLines, icache.line_bytes)});
  }
  if (!is_capability(config.gpu.compute_capability)) {
    broken.push_back({"gpu.compute_capability",
                      fmt::format("\"{}\" is not of the form \"9.0\"", config.gpu.compute_capability)});
  }
  return broken;
}

}  // namespace warpscope::hw

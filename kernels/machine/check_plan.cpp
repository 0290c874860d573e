#include "kernels/machine/check_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace warpscope::kernels {
namespace {

std::string text(const Fragment& fragment) {
  constexpr std::array kNames = {"accumulator", "operand_b",         "linear", "linear_quads", "row_per_warp",
                                 "row_per_cta", "element_per_thread"};
  return fmt::format("{} x {} {} split {} x {} x {}", fragment.rows, fragment.cols,
                     kNames.at(static_cast<std::size_t>(fragment.layout)), fragment.split.m, fragment.split.n,
                     fragment.split.k);
}

}  // namespace

void check_launch(const LaunchPlan& launch) {
  if (launch.warps < 1 || launch.warps > 32) {
    throw std::logic_error(fmt::format("{} warps per CTA; legal are 1 to 32", launch.warps));
  }
  if (launch.programs.empty()) {
    throw std::logic_error("no program; legal is at least one");
  }
  if (launch.classes.empty()) {
    throw std::logic_error("no class of CTAs; legal is at least one, which says what program its CTAs run");
  }
  for (const PlanClass& plan_class : launch.classes) {
    if (plan_class.program < 0 || static_cast<std::size_t>(plan_class.program) >= launch.programs.size()) {
      throw std::logic_error(fmt::format("a class runs program {}; legal are 0 to {}", plan_class.program,
                                         launch.programs.size() - 1));
    }
  }
  std::uint64_t largest = 0;
  for (std::size_t d = 0; d < launch.class_of_block.size(); ++d) {
    const std::vector<std::uint32_t>& table = launch.class_of_block[d];
    if (!table.empty() && table.size() != launch.grid[d]) {
      throw std::logic_error(
          fmt::format("class_of_block[{}] has {} entries; legal are none or {}, as the grid", d, table.size(),
                      launch.grid[d]));
    }
    largest += table.empty() ? 0 : *std::ranges::max_element(table);
  }
  if (largest >= launch.classes.size()) {
    throw std::logic_error(
        fmt::format("class_of_block names class {}; legal are 0 to {}", largest, launch.classes.size() - 1));
  }
}

void check_shared(const LaunchPlan& launch, const SharedTile& tile) {
  const std::int64_t end = tile.byte_offset + std::int64_t{tile.bytes_to_next_stage()} * (tile.stages - 1) +
                           tile.bytes_per_stage();
  if (tile.byte_offset < 0 || end > launch.shared_bytes_per_cta) {
    throw std::logic_error(fmt::format(
        "a tile of {} x {} in {} stages takes bytes {} to {} of shared memory; legal are the {} that "
        "shared_bytes_per_cta declares",
        tile.rows, tile.cols, tile.stages, tile.byte_offset, end, launch.shared_bytes_per_cta));
  }
}

void check_same_lanes(const Fragment& target, const Fragment& source) {
  if (target.rows != source.rows || target.cols != source.cols || target.layout != source.layout ||
      !(target.split == source.split)) {
    throw std::logic_error(
        fmt::format("arithmetic on a tile {} and a tile {}: its elements would change lanes; legal is one "
                    "shape, layout and split, or the way through shared memory",
                    text(source), text(target)));
  }
}

}  // namespace warpscope::kernels

#include "kernels/standard/tile_walk.hpp"

#include <algorithm>

#include "kernels/standard/grid.hpp"

namespace warpscope::kernels::standard {
namespace {

/// A class has four tables, and a trace 32768 symbols.
constexpr std::int64_t kMostTiles = 8000;
/// Of units that are walked column by column, so that a wave of CTAs reads few rows and few columns. The
/// bytes that two products of 8192 and 16384 rows read from HBM on an H200 fit four best.
constexpr std::int64_t kBandRows = 4;

struct Place {
  std::int64_t row;
  std::int64_t column;
};

/// Of unit `number` among `rows` times `columns`.
Place place_of(std::int64_t number, std::int64_t rows, std::int64_t columns) {
  const std::int64_t band = number / (kBandRows * columns);
  const std::int64_t height = std::min(kBandRows, rows - band * kBandRows);
  const std::int64_t in_band = number - band * kBandRows * columns;
  return {band * kBandRows + in_band % height, in_band / height};
}

}  // namespace

TileWalk::TileWalk(const GemmTask& task, const WgmmaTile& tile, int sms)
    : rows_(ceil_div(task.m, tile.m)),
      columns_(task.n / tile.n),
      shares_columns_(rows_ % 2 == 0 && (tile.n > tile.m || columns_ % 2 != 0)),
      shares_rows_(!shares_columns_ && columns_ % 2 == 0) {
  const int ctas = shares_rows_ || shares_columns_ ? 2 : 1;
  units_ = rows_ * columns_ * task.batch / ctas;
  clusters_ = std::max(std::min<std::int64_t>(units_, std::max(1, sms / ctas)), ceil_div(units_, kMostTiles));
  length_ = static_cast<int>(ceil_div(units_, clusters_));
}

void TileWalk::add_classes(LaunchPlan& launch, std::uint32_t further_steps) const {
  const std::int64_t ctas = shares_rows_ || shares_columns_ ? 2 : 1;
  launch.grid = grid_of(ctas, clusters_, 1);
  const std::int64_t columns = shares_rows_ ? columns_ / 2 : columns_;  // of units
  const std::int64_t rows = shares_columns_ ? rows_ / 2 : rows_;
  const auto length = static_cast<std::size_t>(length_);
  for (std::int64_t cluster = 0; cluster < clusters_; ++cluster) {
    for (std::int64_t rank = 0; rank < ctas; ++rank) {
      PlanClass cta;
      cta.symbols.assign(4 * length, 0);
      // Whoever keeps step with a CTA that has a turn more finds no segment there.
      std::fill_n(cta.symbols.begin(), length, -1);
      std::size_t turn = 0;
      for (std::int64_t unit = cluster; unit < units_; unit += clusters_, ++turn) {
        const std::int64_t in_segment = unit % (rows * columns);
        const Place place = place_of(in_segment, rows, columns);
        const std::int64_t row = place.row * (shares_columns_ ? 2 : 1) + (shares_columns_ ? rank : 0);
        const std::int64_t column = place.column * (shares_rows_ ? 2 : 1) + (shares_rows_ ? rank : 0);
        cta.symbols[turn] = unit / (rows * columns);
        cta.symbols[length + turn] = row;
        cta.symbols[2 * length + turn] = column;
        cta.symbols[3 * length + turn] = row * columns_ + column;
      }
      cta.trip_counts = {static_cast<std::uint32_t>(turn), further_steps};
      launch.classes.push_back(std::move(cta));
    }
  }
  for (std::int64_t rank = 0; rank < ctas; ++rank) {
    launch.class_of_block[0].push_back(static_cast<std::uint32_t>(rank));
  }
  for (std::int64_t cluster = 0; cluster < clusters_; ++cluster) {
    launch.class_of_block[1].push_back(static_cast<std::uint32_t>(cluster * ctas));
  }
}

}  // namespace warpscope::kernels::standard

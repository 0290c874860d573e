#include "model/memory/piece_order.hpp"

#include <algorithm>
#include <numeric>

namespace warpscope::memory {

const std::vector<Piece*>& PieceOrder::sorted() {
  sorted_.resize(pieces_.size());
  if (pieces_.empty()) {
    return sorted_;
  }
  const auto time_of = [](const Piece* piece) { return piece->time_cycles; };
  const auto [first, last] = std::ranges::minmax(pieces_, {}, time_of);
  const std::int64_t begin = time_of(first);
  places_.assign(static_cast<std::size_t>(time_of(last) - begin) + 1, 0);
  for (const Piece* piece : pieces_) {
    ++places_[static_cast<std::size_t>(time_of(piece) - begin)];
  }
  std::exclusive_scan(places_.begin(), places_.end(), places_.begin(), std::uint32_t{0});
  for (Piece* piece : pieces_) {
    sorted_[places_[static_cast<std::size_t>(time_of(piece) - begin)]++] = piece;
  }
  return sorted_;
}

}  // namespace warpscope::memory

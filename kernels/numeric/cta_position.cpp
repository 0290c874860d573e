#include "kernels/numeric/cta_position.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace warpscope::kernels {

std::int64_t CtaPosition::evaluate(const Affine& value) const {
  std::int64_t result = value.constant;
  for (std::size_t d = 0; d < block_.size(); ++d) {
    if (value.per_block[d] != 0) {
      result += value.per_block[d] * (static_cast<std::int64_t>(block_[d]) / value.block_divisor[d]);
    }
  }
  for (std::size_t k = 0; k < value.per_loop.size(); ++k) {
    if (value.per_loop[k] == 0) {
      continue;
    }
    if (k >= loops_.size()) {
      throw std::logic_error("a position refers to loop " + std::to_string(k) + " outside of it");
    }
    result += value.per_loop[k] * loops_[k].iteration;
  }
  if (value.symbol != kNoClassSymbol) {
    auto symbol = static_cast<std::size_t>(value.symbol);
    if (value.table_length > 0) {
      if (loops_.empty() || loops_[0].iteration >= value.table_length) {
        throw std::logic_error("a position refers to an entry that its table of " +
                               std::to_string(value.table_length) + " lacks");
      }
      symbol += static_cast<std::size_t>(loops_[0].iteration);
    }
    if (symbol >= class_->symbols.size()) {
      throw std::logic_error("a position refers to symbol " + std::to_string(symbol) +
                             " that its class lacks");
    }
    result += value.per_symbol * class_->symbols[symbol];
  }
  return result;
}

std::int64_t CtaPosition::trips_of(const Trips& trips) const {
  const auto slot = static_cast<std::size_t>(trips.slot);
  if (slot >= class_->trip_counts.size()) {
    throw std::logic_error("a loop refers to trip slot " + std::to_string(slot) + " that its class lacks");
  }
  std::int64_t result = class_->trip_counts[slot];
  for (std::size_t k = 0; k < trips.per_loop.size(); ++k) {
    if (trips.per_loop[k] == 0) {
      continue;
    }
    if (k >= loops_.size()) {
      throw std::logic_error("a trip count refers to loop " + std::to_string(k) + " outside of it");
    }
    result += trips.per_loop[k] * loops_[k].iteration;
  }
  return std::max<std::int64_t>(0, result);
}

}  // namespace warpscope::kernels

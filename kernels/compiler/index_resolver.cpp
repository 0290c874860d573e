#include "kernels/compiler/index_resolver.hpp"

#include <stdexcept>

namespace warpscope::kernels {

int IndexResolver::loop_depth() const {
  int depth = 0;
  for (const Level& level : levels_) {
    depth += level.region == Region::condition ? 0 : 1;
  }
  return depth;
}

void IndexResolver::enter(Region region, const Trips& trips) {
  if (levels_.size() == trace::kMaxLoopDepth) {
    throw std::logic_error("loops and conditions of a CTA program nest deeper than a trace allows");
  }
  levels_.push_back({region, trips});
}

void IndexResolver::enter_loop(const Trips& trips) {
  enter(Region::loop, trips);
}
void IndexResolver::enter_last_iteration(const Trips& trips) {
  enter(Region::last_iteration, trips);
}
void IndexResolver::enter_condition() {
  enter(Region::condition, Trips(0));
}
void IndexResolver::leave() {
  levels_.pop_back();
}

trace::AffineIndex IndexResolver::resolve(const Affine& position) const {
  trace::AffineIndex result;
  result.offset = position.constant;
  result.per_block = position.per_block;
  result.block_divisor = position.block_divisor;

  if (position.table_length > 0) {
    result.symbol_table = true;
    result.symbol = tables_.table(position.symbol, position.table_length);
    result.per_symbol = position.per_symbol;
  }
  SymbolExpression expression;
  if (!result.symbol_table && position.symbol != kNoClassSymbol && position.per_symbol != 0) {
    expression.symbol = position.symbol;
    expression.symbol_factor = position.per_symbol;
  }
  // Innermost first: the number of a last iteration may itself depend on outer iterations.
  std::array<std::int64_t, kMaxProgramLoops> per_loop = position.per_loop;
  int depth = loop_depth();
  for (std::size_t level = levels_.size(); level-- > 0;) {
    if (levels_[level].region == Region::condition) {
      continue;
    }
    const std::int64_t factor = per_loop[static_cast<std::size_t>(--depth)];
    if (factor == 0) {
      continue;
    }
    if (levels_[level].region == Region::loop) {
      result.per_iteration[level] += factor;
      continue;
    }
    const Trips& trips = levels_[level].trips;
    expression.trip_terms.push_back({trips.slot, factor});
    for (std::size_t outer = 0; outer < per_loop.size(); ++outer) {
      per_loop[outer] += factor * trips.per_loop[outer];
    }
  }
  if (result.symbol_table && !expression.trip_terms.empty()) {
    throw std::logic_error("a position goes by a table and by a last iteration");
  }
  if (expression.symbol == kNoClassSymbol && expression.trip_terms.empty()) {
    return result;
  }
  result.per_symbol = 1;
  if (expression.trip_terms.empty()) {
    result.per_symbol = expression.symbol_factor;
    expression.symbol_factor = 1;
  }
  result.symbol = tables_.symbol(expression);
  return result;
}

std::array<std::int32_t, trace::kMaxLoopDepth> IndexResolver::trips_per_iteration(const Trips& trips) const {
  std::array<std::int32_t, trace::kMaxLoopDepth> result{};
  std::size_t depth = 0;
  for (std::size_t level = 0; level < levels_.size(); ++level) {
    if (levels_[level].region == Region::condition) {
      continue;
    }
    const std::int32_t factor = trips.per_loop[depth++];
    if (factor != 0 && levels_[level].region == Region::last_iteration) {
      throw std::logic_error("a loop's trips may not depend on a loop that uses unless_last");
    }
    result[level] = factor;
  }
  return result;
}

}  // namespace warpscope::kernels

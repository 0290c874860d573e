#include "kernels/compiler/class_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace warpscope::kernels {
namespace {

template <typename T>
std::size_t intern(std::vector<T>& table, const T& value) {
  const auto found = std::ranges::find(table, value);
  if (found != table.end()) {
    return static_cast<std::size_t>(found - table.begin());
  }
  table.push_back(value);
  return table.size() - 1;
}

// Programs that a class does not run may name slots and symbols that it does not have; they count as 0.
template <typename T>
T value_or_zero(const std::vector<T>& values, int index) {
  const auto position = static_cast<std::size_t>(index);
  return index >= 0 && position < values.size() ? values[position] : T{0};
}

}  // namespace

std::uint16_t ClassTables::trip_slot(TripKind kind, int slot) {
  needs_.back().trip_counts = std::max(needs_.back().trip_counts, slot + 1);
  return static_cast<std::uint16_t>(intern(trips_, DerivedTrip{kind, slot}));
}

std::int16_t ClassTables::symbol(const SymbolExpression& expression) {
  needs_.back().symbols = std::max(needs_.back().symbols, expression.symbol + 1);
  return static_cast<std::int16_t>(intern(symbols_, expression));
}

std::int16_t ClassTables::table(int first, int length) {
  needs_.back().symbols = std::max(needs_.back().symbols, first + length);
  const auto [place, is_new] =
      tables_.try_emplace({first, length}, static_cast<std::int16_t>(symbols_.size()));
  for (int i = 0; is_new && i < length; ++i) {
    symbols_.push_back({.symbol = first + i, .symbol_factor = 1, .trip_terms = {}});
  }
  return place->second;
}

void ClassTables::check(const PlanClass& plan_class) const {
  const Needs& needs = needs_.at(static_cast<std::size_t>(plan_class.program));
  const auto require = [&](std::size_t has, int needed, const char* what) {
    if (has < static_cast<std::size_t>(needed)) {
      throw std::logic_error(
          fmt::format("a class of program {} has {} {}; the program's loops and positions need {}",
                      plan_class.program, has, what, needed));
    }
  };
  require(plan_class.trip_counts.size(), needs.trip_counts, "trip counts");
  require(plan_class.symbols.size(), needs.symbols, "symbols");
}

trace::CtaClass ClassTables::translate(const PlanClass& plan_class,
                                       const std::vector<int>& role_warps) const {
  check(plan_class);
  trace::CtaClass result;
  const std::size_t roles = role_warps.size();
  for (std::size_t role = 0; role < roles; ++role) {
    const std::size_t program = static_cast<std::size_t>(plan_class.program) * roles + role;
    result.program_of_warp.insert(result.program_of_warp.end(), static_cast<std::size_t>(role_warps[role]),
                                  static_cast<std::uint16_t>(program));
  }
  for (const DerivedTrip& derived : trips_) {
    const std::uint32_t count = value_or_zero(plan_class.trip_counts, derived.slot);
    switch (derived.kind) {
      case TripKind::all:
        result.trip_counts.push_back(count);
        break;
      case TripKind::all_but_last:
        result.trip_counts.push_back(count > 0 ? count - 1 : 0);
        break;
      case TripKind::at_most_one:
        result.trip_counts.push_back(std::min(count, 1U));
        break;
    }
  }
  for (const SymbolExpression& expression : symbols_) {
    std::int64_t value = expression.symbol_factor * value_or_zero(plan_class.symbols, expression.symbol);
    for (const SymbolExpression::TripTerm& term : expression.trip_terms) {
      value += term.factor * (std::int64_t{value_or_zero(plan_class.trip_counts, term.slot)} - 1);
    }
    result.symbols.push_back(value);
  }
  return result;
}

}  // namespace warpscope::kernels

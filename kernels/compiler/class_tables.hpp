// Trip slots and symbols of the trace that follow from those of the plan.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "kernels/machine/plan.hpp"

namespace warpscope::kernels {

/// How the trace's trip count follows from the plan's count n.
enum class TripKind : std::uint8_t {
  all,           ///< n
  all_but_last,  ///< max(n - 1, 0)
  at_most_one,   ///< min(n, 1): a condition, or the last iteration
};

/// symbol_factor * symbols[symbol] + sum of factor * (trip_counts[slot] - 1) over trip_terms.
struct SymbolExpression {
  struct TripTerm {
    int slot = 0;
    std::int64_t factor = 0;
    bool operator==(const TripTerm&) const = default;
  };
  int symbol = kNoClassSymbol;
  std::int64_t symbol_factor = 0;
  std::vector<TripTerm> trip_terms;
  bool operator==(const SymbolExpression&) const = default;
};

/// Numbers the derived trip slots and symbols of one launch and evaluates them for its classes.
class ClassTables {
 public:
  /// What is numbered from now on belongs to the next program of the launch.
  void begin_program() { needs_.emplace_back(); }
  std::uint16_t trip_slot(TripKind kind, int slot);
  std::int16_t symbol(const SymbolExpression& expression);
  /// Symbols `first` to `first` + `length` - 1 of the plan, one behind the other.
  std::int16_t table(int first, int length);
  /// Call after all programs of the launch have been expanded. Throws std::logic_error where the class lacks
  /// a trip count or a symbol that its program names.
  /// `role_warps`: warps of each role, in their order; the program of a role is one of the trace.
  trace::CtaClass translate(const PlanClass& plan_class, const std::vector<int>& role_warps) const;

 private:
  struct DerivedTrip {
    TripKind kind;
    int slot;
    bool operator==(const DerivedTrip&) const = default;
  };
  /// What a class that runs a program must have.
  struct Needs {
    int trip_counts = 0;
    int symbols = 0;
  };
  void check(const PlanClass& plan_class) const;

  std::vector<Needs> needs_;  ///< by program
  std::vector<DerivedTrip> trips_;
  std::vector<SymbolExpression> symbols_;
  std::map<std::pair<int, int>, std::int16_t>
      tables_;  ///< first and length in the plan -> first in the trace
};

}  // namespace warpscope::kernels

#include "model/trace/execution_count.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <stdexcept>

#include "model/trace/trace_limits.hpp"
#include "model/trace/wide_integer.hpp"

namespace warpscope::trace {
namespace {

constexpr std::uint64_t kMostEnumerated = std::uint64_t{1} << 20;  // outer iterations taken one by one

/// max(0, base + step * i) summed over 0 <= i < n. Steps and bases beyond any legal trace still do not
/// overflow: |base| < 2^66, n < 2^32, so that the sum stays below 2^99.
std::uint64_t clamped_series(std::uint64_t n, Int128 base, std::int32_t step) {
  Int128 begin = 0;
  Int128 end = static_cast<Int128>(n);
  if (step == 0) {
    end = base > 0 ? end : 0;
  } else if (step > 0) {
    begin = base >= 0 ? 0 : (-base + step - 1) / step;
  } else {
    end = std::min(end, base > 0 ? (base - 1) / -step + 1 : Int128{0});
  }
  if (end <= begin) {
    return 0;
  }
  const Int128 first = base + begin * step;
  const Int128 last = base + (end - 1) * step;
  if (std::max(first, last) > Int128{kMostTrips}) {
    throw std::invalid_argument(fmt::format("a loop of more than {} trips", kMostTrips));
  }
  const Int128 sum = (end - begin) * (first + last) / 2;
  if (sum > Int128{INT64_MAX}) {
    throw std::invalid_argument("a loop body that runs more than 2^63 times");
  }
  return static_cast<std::uint64_t>(sum);
}

/// Trips of `loop` where the first `known` outer iterations are given.
Int128 base_trips(const Loop& loop, std::uint32_t trip_count, std::span<const std::uint64_t> iterations) {
  Int128 trips = trip_count;
  for (std::size_t k = 0; k < iterations.size(); ++k) {
    trips += static_cast<Int128>(loop.trips_per_iteration[k]) * static_cast<Int128>(iterations[k]);
  }
  return trips;
}

/// Counts the body executions of nest.back(), whose ancestors are the loops before it.
class NestCount {
 public:
  NestCount(std::span<const Loop* const> nest, const CtaClass& cta_class) : nest_(nest), class_(cta_class) {}

  std::uint64_t count() { return count_from(0); }

 private:
  /// Executions of the innermost body per entry of the loop at `depth`, with iterations_[0, depth) fixed.
  std::uint64_t count_from(std::size_t depth) {
    const std::uint64_t trips = trips_of(depth);
    if (depth + 1 == nest_.size() || trips == 0) {
      return trips;
    }
    if (!depends_on(depth)) {
      iterations_[depth] = 0;
      return checked_multiply(trips, count_from(depth + 1));
    }
    if (depth + 2 == nest_.size()) {
      const Loop& inner = *nest_[depth + 1];
      const Int128 base =
          base_trips(inner, class_.trip_counts[inner.trip_slot], std::span(iterations_).first(depth));
      return clamped_series(trips, base, inner.trips_per_iteration[depth]);
    }
    if (trips > kMostEnumerated) {
      throw std::invalid_argument(fmt::format(
          "three nested loops of varying length, the outer of {} trips; at most {}", trips, kMostEnumerated));
    }
    std::uint64_t sum = 0;
    for (iterations_[depth] = 0; iterations_[depth] < trips; ++iterations_[depth]) {
      sum = checked_add(sum, count_from(depth + 1));
    }
    return sum;
  }

  std::uint64_t trips_of(std::size_t depth) const {
    const Loop& loop = *nest_[depth];
    const Int128 trips =
        base_trips(loop, class_.trip_counts[loop.trip_slot], std::span(iterations_).first(depth));
    if (trips > Int128{kMostTrips}) {
      throw std::invalid_argument(fmt::format("a loop of more than {} trips", kMostTrips));
    }
    return trips < 0 ? 0 : static_cast<std::uint64_t>(trips);
  }

  bool depends_on(std::size_t depth) const {
    return std::any_of(nest_.begin() + static_cast<std::ptrdiff_t>(depth) + 1, nest_.end(),
                       [&](const Loop* loop) { return loop->trips_per_iteration[depth] != 0; });
  }

  std::span<const Loop* const> nest_;
  const CtaClass& class_;
  std::array<std::uint64_t, kMaxLoopDepth> iterations_{};
};

}  // namespace

std::uint64_t checked_add(std::uint64_t a, std::uint64_t b) {
  std::uint64_t result = 0;
  if (__builtin_add_overflow(a, b, &result)) {
    throw std::invalid_argument("a count that exceeds 64 bits");
  }
  return result;
}

std::uint64_t checked_multiply(std::uint64_t a, std::uint64_t b) {
  std::uint64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) {
    throw std::invalid_argument("a count that exceeds 64 bits");
  }
  return result;
}

std::vector<ExecutedStretch> executed_stretches(const WarpProgram& program, const CtaClass& cta_class) {
  std::vector<ExecutedStretch> stretches;
  std::vector<const Loop*> nest;
  std::vector<std::uint64_t> counts{1};  // of the code outside all loops, then of each loop in nest
  std::uint32_t position = 0;
  const auto advance = [&](std::uint32_t end) {
    if (end > position) {
      stretches.push_back({position, end, counts.back()});
      position = end;
    }
  };
  const auto leave = [&] {
    advance(nest.back()->end);
    nest.pop_back();
    counts.pop_back();
  };
  for (const Loop& loop : program.loops) {
    while (!nest.empty() && nest.back()->end <= loop.begin) {
      leave();
    }
    advance(loop.begin);
    nest.push_back(&loop);
    counts.push_back(NestCount(nest, cta_class).count());
  }
  while (!nest.empty()) {
    leave();
  }
  advance(static_cast<std::uint32_t>(program.code.size()));
  return stretches;
}

}  // namespace warpscope::trace

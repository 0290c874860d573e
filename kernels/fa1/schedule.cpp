#include "kernels/fa1/schedule.hpp"

#include <algorithm>
#include <numeric>

namespace warpscope::kernels::fa1 {

namespace {

// Smallest step >= `begin` that belongs to CTA z.
std::int64_t first_step(std::int64_t begin, std::int64_t z, std::int64_t splits) {
  const std::int64_t behind = std::max<std::int64_t>(0, begin - z);
  return z + (behind + splits - 1) / splits * splits;
}

std::int64_t steps_between(std::int64_t begin, std::int64_t end, std::int64_t z, std::int64_t splits) {
  return std::max<std::int64_t>(0, (end - first_step(begin, z, splits) + splits - 1) / splits);
}

class Builder {
 public:
  Builder(const Config& config, bool causal) : config_(config), causal_(causal) {}

  Schedule build() {
    result_.periods_slot = slots_++;
    result_.first = add(0);
    const int period = causal_ ? blocks_per_period() : 1;
    const int periods = looped_blocks() / period;
    for (int i = 0; i < period && periods > 0; ++i) {
      result_.period.push_back(add(1 + i));
      result_.period.back().repeats = true;
    }
    for (int number = 1 + periods * period; number < config_.key_blocks; ++number) {
      result_.rest.push_back(add(number));
    }
    if (causal_) {
      result_.steps_per_period = begin_of(period);
      result_.trips_per_period = static_cast<std::int32_t>(-result_.steps_per_period / config_.num_splits);
    }
    for (int z = 0; z < config_.num_splits; ++z) {
      result_.classes.push_back(class_of(z, periods));
    }
    return std::move(result_);
  }

 private:
  std::int64_t begin_of(int number) const {
    return causal_ ? std::int64_t{number} * config_.block_keys / config_.step_rows : 0;
  }

  // After so many key blocks the diagonal has moved by a multiple of num_splits steps.
  int blocks_per_period() const {
    const int rows = config_.num_splits * config_.step_rows;
    return rows / std::gcd(rows, config_.block_keys);
  }

  // Middle blocks in which every CTA that has any query steps has some.
  int looped_blocks() const {
    int count = std::max(0, config_.key_blocks - 2);
    while (causal_ && count > 0 && config_.query_steps - begin_of(count) < config_.num_splits) {
      --count;
    }
    return count;
  }

  KeyBlock add(int number) {
    KeyBlock block;
    block.number = number;
    block.first = number == 0;
    block.last = number == config_.key_blocks - 1;
    block.exists_slot = slots_++;
    block.diagonal_slot = slots_++;
    block.below_slot = slots_++;
    block.diagonal_symbol = symbols_++;
    block.below_symbol = symbols_++;
    block.parity_symbol = symbols_++;
    return block;
  }

  void fill(const KeyBlock& block, int z, PlanClass& target) const {
    const std::int64_t splits = config_.num_splits;
    const std::int64_t begin = begin_of(block.number);
    std::int64_t diagonal_end = causal_ ? begin_of(block.number + 1) : begin;
    if (block.last) {
      diagonal_end = config_.query_steps;
    }
    diagonal_end = std::min<std::int64_t>(diagonal_end, config_.query_steps);
    const std::int64_t diagonal = steps_between(begin, diagonal_end, z, splits);
    const std::int64_t below = steps_between(diagonal_end, config_.query_steps, z, splits);
    const auto set = [](auto& values, int index, std::int64_t value) {
      using Value = typename std::remove_reference_t<decltype(values)>::value_type;
      values[static_cast<std::size_t>(index)] = static_cast<Value>(value);
    };
    set(target.trip_counts, block.exists_slot, diagonal + below > 0 ? 1 : 0);
    set(target.trip_counts, block.diagonal_slot, diagonal);
    set(target.trip_counts, block.below_slot, below);
    set(target.symbols, block.diagonal_symbol, first_step(begin, z, splits));
    set(target.symbols, block.below_symbol, first_step(diagonal_end, z, splits));
    set(target.symbols, block.parity_symbol, diagonal);
  }

  PlanClass class_of(int z, int periods) const {
    PlanClass result;
    result.trip_counts.resize(static_cast<std::size_t>(slots_));
    result.symbols.resize(static_cast<std::size_t>(symbols_));
    const bool idle = z >= config_.query_steps;
    result.trip_counts[static_cast<std::size_t>(result_.periods_slot)] =
        static_cast<std::uint32_t>(idle ? 0 : periods);
    fill(result_.first, z, result);
    for (const KeyBlock& block : result_.period) {
      fill(block, z, result);
    }
    for (const KeyBlock& block : result_.rest) {
      fill(block, z, result);
    }
    return result;
  }

  const Config& config_;
  bool causal_;
  int slots_ = 0;
  int symbols_ = 0;
  Schedule result_;
};

}  // namespace

Schedule schedule(const Config& config, bool causal) {
  return Builder(config, causal).build();
}

}  // namespace warpscope::kernels::fa1

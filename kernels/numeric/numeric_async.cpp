// Roles, warpgroup products and mbarriers on the numeric machine: one thread runs all roles in the order of
// the program, so that a wait for what comes later in it shows as an error.
#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "kernels/numeric/numeric_machine.hpp"
#include "kernels/numeric/rounding.hpp"

namespace warpscope::kernels {

void NumericMachine::role(unsigned roles, const std::function<void()>& body) {
  const int outer = std::exchange(role_warps_, warps_of_roles(launch_, roles));
  body();
  role_warps_ = outer;
}

void NumericMachine::mma_async(const Fragment& accumulator, const MmaOperand& a, const MmaOperand& b) {
  mma(accumulator, a, b);
}

void NumericMachine::wait_mma(const Fragment& /*accumulator*/, int /*pending*/) {}

const trace::MbarrierRing& NumericMachine::ring(int number) const {
  return launch_.mbarriers.at(static_cast<std::size_t>(number));
}

void NumericMachine::arrive(int number) {
  ring(number);
  rings_[static_cast<std::size_t>(number)].arrivals += role_warps_;
}

void NumericMachine::wait(int number) {
  const trace::MbarrierRing& ring_of = ring(number);
  RingState& state = rings_[static_cast<std::size_t>(number)];
  const int phases = ++state.waits - (ring_of.starts_open ? ring_of.slots : 0);
  if (state.arrivals < phases * ring_of.arrivals) {
    throw std::logic_error(fmt::format(
        "wait number {} at ring {} of mbarriers is for {} arrivals, of which {} come before it; each warp "
        "arrives where it is done with the phase",
        state.waits, number, phases * ring_of.arrivals, state.arrivals));
  }
  // Whoever has waited sees what was done before the arrivals, as behind a barrier.
  shared_.pass_barrier();
}

void NumericMachine::barrier(int /*name*/, int /*warps*/) {
  barrier();
}

void NumericMachine::store_matrix(const SharedTile& target, const Fragment& source, int first_col,
                                  float factor) {
  const std::size_t base = shared_address(target);
  const TileValues& values = tile(source);
  for (int i = 0; i < target.rows; ++i) {
    for (int j = 0; j < target.cols; ++j) {
      shared_.write(base + element_offset(target, i, j), target.type,
                    round_to(target.type, values.at(0, i, first_col + j) * factor));
    }
  }
}

}  // namespace warpscope::kernels

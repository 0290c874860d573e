#include "kernels/numeric/numeric_machine.hpp"

#include <stdexcept>
#include <string>

namespace warpscope::kernels {

NumericMachine::NumericMachine(std::vector<NumericTensor>& tensors, const LaunchPlan& launch,
                               CtaPosition position, FlopCount& flops)
    : tensors_(tensors),
      launch_(launch),
      position_(std::move(position)),
      flops_(flops),
      threads_(launch.warps * 32),
      shared_(launch.shared_bytes_per_cta),
      role_warps_(launch.warps),
      rings_(launch.mbarriers.size()) {}

Fragment NumericMachine::fragment(int rows, int cols, ElementType type, Layout layout, WarpSplit split) {
  const Fragment result{static_cast<int>(tiles_.size()), rows, cols, type, layout, split};
  tiles_.emplace_back(result);
  return result;
}

RowVector NumericMachine::row_vector(const Fragment& like) {
  const LaneMap lanes(like.layout, like.split, like.cols, like.type, threads_);
  rows_.emplace_back(like.rows, lanes);
  return RowVector{static_cast<int>(rows_.size()) - 1, like.rows, like.layout, like.split};
}

TileValues& NumericMachine::tile(const Fragment& fragment) {
  return tiles_.at(static_cast<std::size_t>(fragment.id));
}

RowValues& NumericMachine::row(const RowVector& vector) {
  return rows_.at(static_cast<std::size_t>(vector.id));
}

std::size_t NumericMachine::shared_address(const SharedTile& tile) {
  return shared_.address_of(tile, position_.evaluate(tile.slot));
}

void NumericMachine::commit_copies() {
  pending_groups_.push_back(std::move(open_group_));
  open_group_.clear();
}

void NumericMachine::wait_copies(int pending) {
  while (static_cast<int>(pending_groups_.size()) > pending) {
    const std::vector<SharedWrite>& oldest = pending_groups_.front();
    landed_.insert(landed_.end(), oldest.begin(), oldest.end());
    pending_groups_.erase(pending_groups_.begin());
  }
}

void NumericMachine::barrier() {
  for (const SharedWrite& write : landed_) {
    shared_.write_late(write.address, write.type, write.value, write.since);
  }
  landed_.clear();
  shared_.pass_barrier();
}

void NumericMachine::loop(const Trips& trips, const std::function<void(const Affine& iteration)>& body,
                          Code /*code*/) {
  const std::int64_t count = position_.trips_of(trips);
  const std::size_t depth = position_.loops().size();
  if (depth >= static_cast<std::size_t>(kMaxProgramLoops)) {
    throw std::logic_error("loops nest deeper than " + std::to_string(kMaxProgramLoops));
  }
  Affine iteration;
  iteration.per_loop[depth] = 1;
  const std::size_t tiles = tiles_.size();
  const std::size_t rows = rows_.size();
  position_.loops().push_back({0, count});
  for (std::int64_t i = 0; i < count; ++i) {
    position_.loops()[depth].iteration = i;
    body(iteration);
    // Registers of one iteration end with it.
    tiles_.erase(tiles_.begin() + static_cast<std::ptrdiff_t>(tiles), tiles_.end());
    rows_.erase(rows_.begin() + static_cast<std::ptrdiff_t>(rows), rows_.end());
  }
  position_.loops().pop_back();
}

void NumericMachine::unless_last(const std::function<void()>& body) {
  if (position_.loops().empty()) {
    throw std::logic_error("unless_last stands outside of a loop");
  }
  const LoopState& state = position_.loops().back();
  if (state.iteration + 1 < state.trips) {
    body();
  }
}

void NumericMachine::when(int slot, const std::function<void()>& body, Code /*code*/) {
  if (position_.trips_of(Trips(slot)) > 0) {
    body();
  }
}

}  // namespace warpscope::kernels

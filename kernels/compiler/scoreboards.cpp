#include "kernels/compiler/scoreboards.hpp"

#include <algorithm>

namespace warpscope::kernels {
namespace {

// Kinds of use: the class of a writer, or this plus that of a reader.
constexpr int kReadKind = 32;
constexpr int kLateReadKind = 63;
constexpr int kGlobalLoad = static_cast<int>(trace::OpClass::global_load);
// Global loads leave as many free, so that what comes from shared memory does not wait for them.
constexpr int kFreeBesideLoads = 2;

}  // namespace

Scoreboards::Scoreboards(bool async_copies, bool late_loads, bool hmma)
    : begin_(async_copies ? 1 : 0),
      end_((late_loads ? late_load() : trace::kScoreboards) - (hmma ? 1 : 0)),
      late_loads_(late_loads) {}

int Scoreboards::result(trace::OpClass op_class) {
  return assign(static_cast<int>(op_class));
}

int Scoreboards::early_load() {
  return late_loads_ && free_boards() <= kFreeBesideLoads ? set(late_load(), kGlobalLoad)
                                                          : assign(kGlobalLoad);
}

int Scoreboards::sources(trace::OpClass op_class) {
  return assign(kReadKind + static_cast<int>(op_class));
}

int Scoreboards::late_sources() {
  // Nothing in this block waits for them, so that they hold one scoreboard together.
  late_sources_ = late_sources_ >= 0 ? set(late_sources_, kLateReadKind) : assign(kLateReadKind);
  return late_sources_;
}

void Scoreboards::hold(std::uint8_t mask) {
  for (int b = 0; b < trace::kScoreboards; ++b) {
    if ((mask >> b & 1) != 0) {
      boards_[static_cast<std::size_t>(b)].setters = 1;
    }
  }
}

void Scoreboards::waited(std::uint8_t mask) {
  for (int b = 0; b < trace::kScoreboards; ++b) {
    if ((mask >> b & 1) != 0) {
      boards_[static_cast<std::size_t>(b)].setters = 0;
    }
  }
}

int Scoreboards::free_boards() const {
  return static_cast<int>(std::count_if(boards_.begin() + begin_, boards_.begin() + end_,
                                        [](const Board& board) { return board.setters == 0; }));
}

int Scoreboards::assign(int kind) {
  for (int b = begin_; b < end_; ++b) {
    if (boards_[static_cast<std::size_t>(b)].setters == 0) {
      return set(b, kind);
    }
  }
  // All taken: the latest of the same kind makes earlier waiters wait least; failing that, the latest of all.
  int best = begin_;
  for (int b = begin_; b < end_; ++b) {
    const Board& board = boards_[static_cast<std::size_t>(b)];
    const Board& leader = boards_[static_cast<std::size_t>(best)];
    const bool same = board.kind == kind;
    const bool leader_same = leader.kind == kind;
    if (same > leader_same || (same == leader_same && board.when > leader.when)) {
      best = b;
    }
  }
  return set(best, kind);
}

int Scoreboards::set(int board, int kind) {
  Board& chosen = boards_[static_cast<std::size_t>(board)];
  chosen = {chosen.setters + 1, kind, ++clock_};
  return board;
}

}  // namespace warpscope::kernels

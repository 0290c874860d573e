#include "kernels/compiler/backward_plan.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <utility>

#include "kernels/compiler/opcode_kinds.hpp"

namespace warpscope::kernels {
namespace {

/// Cycles for which the plan keeps an instruction's pipe, 0 for pipes that it does not count.
int planned_interval(const CompilerTarget& target, trace::Opcode opcode) {
  if (trace::info(opcode).op_class == trace::OpClass::hmma_16816) {
    return target.hmma_16816_interval + target.hmma_plan_spare_cycles;
  }
  if (is_hmma(opcode)) {
    return issue_interval(target, opcode);
  }
  return trace::info(opcode).pipe == trace::Pipe::xu ? target.xu_order_interval : 0;
}

class BackwardPlan {
 public:
  BackwardPlan(const std::vector<trace::Instruction>& code, const CompilerTarget& target)
      : code_(code), target_(target), before_(code.size()), left_(code.size(), 0), cycles_(code.size(), 0) {}

  void add_edge(std::uint32_t from, std::uint32_t to, int cycles) {
    before_[to].emplace_back(from, cycles);
    ++left_[from];
  }

  std::vector<int> run() {
    for (std::uint32_t i = 0; i < code_.size(); ++i) {
      if (left_[i] == 0) {
        ready_.emplace(0, -static_cast<std::int64_t>(i));
      }
    }
    while (!ready_.empty()) {
      const auto [time, negative] = ready_.top();
      ready_.pop();
      place(static_cast<std::uint32_t>(-negative), time);
    }
    return std::move(cycles_);
  }

 private:
  void place(std::uint32_t i, int time) {
    const int interval = planned_interval(target_, code_[i].opcode);
    if (interval > 0) {
      int& free = free_[static_cast<std::size_t>(trace::info(code_[i].opcode).pipe)];
      if (free > time) {
        ready_.emplace(free, -static_cast<std::int64_t>(i));
        return;
      }
      free = time + interval;
    }
    cycles_[i] = time;
    for (const auto& [from, cycles] : before_[i]) {
      cycles_[from] = std::max(cycles_[from], time + cycles);
      if (--left_[from] == 0) {
        ready_.emplace(cycles_[from], -static_cast<std::int64_t>(from));
      }
    }
  }

  /// A time, and minus an instruction's number: of equals the last one of the source is placed first.
  using Entry = std::pair<int, std::int64_t>;

  const std::vector<trace::Instruction>& code_;
  const CompilerTarget& target_;
  std::vector<std::vector<std::pair<std::uint32_t, int>>> before_;  // predecessors, and cycles of the edge
  std::vector<int> left_;                                           // successors not yet placed
  std::vector<int> cycles_;  // of what is placed; of others so far, from the successors that are
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready_;
  std::array<int, 16> free_{};  // by pipe
};

}  // namespace

std::vector<int> plan_backwards(const std::vector<trace::Instruction>& code,
                                const NodeLists<DependenceEdge>& successors,
                                const std::vector<bool>& stands_for_another, const CompilerTarget& target) {
  BackwardPlan plan(code, target);
  for (std::uint32_t i = 0; i < code.size(); ++i) {
    for (const DependenceEdge& edge : successors[i]) {
      plan.add_edge(i, edge.successor, edge.priority);
    }
    if (stands_for_another[i] && i + 1 < code.size()) {
      plan.add_edge(i, i + 1, 0);
    }
  }
  return plan.run();
}

}  // namespace warpscope::kernels

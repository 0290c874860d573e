#include "kernels/compiler/list_scheduler.hpp"

#include <algorithm>
#include <cstddef>

#include "kernels/compiler/issue_ports.hpp"
#include "kernels/compiler/opcode_kinds.hpp"

namespace warpscope::kernels {
namespace {

class ListScheduler {
 public:
  ListScheduler(const BasicBlock& block, const BlockLiveness& liveness, const CompilerTarget& target)
      : code_(block.code),
        target_(target),
        ports_(target, target.xu_order_interval),
        graph_(build_graph(block, liveness, target)),
        ready_at_(code_.size(), 0),
        missing_(code_.size(), 0),
        issued_(code_.size(), false),
        live_(graph_.live_registers),
        loads_for_(code_.size(), 0) {
    for (std::uint32_t i = 0; i < code_.size(); ++i) {
      if (is_hmma(code_[i].opcode)) {
        hmmas_.push_back(i);
      }
      if (waits_for_hmma(i)) {
        ++loads_for_[static_cast<std::size_t>(graph_.nodes[i].last_hmma_user)];
      }
      missing_[i] = graph_.nodes[i].predecessors;
      if (missing_[i] == 0) {
        add_candidate(i);
      }
    }
  }

  ScheduledCode run() {
    ScheduledCode result;
    std::vector<trace::Instruction>& order = result.code;
    order.reserve(code_.size());
    while (order.size() < code_.size()) {
      int next_time = kNever;
      int chosen = pick(next_time);
      if (chosen < 0 && next_time != kNever) {
        time_ = next_time;
        continue;
      }
      if (chosen < 0) {
        // Only the register limit or that of waiting loads is in the way: the oldest instruction goes.
        chosen = static_cast<int>(*std::ranges::min_element(candidates_));
      }
      issue(static_cast<std::uint32_t>(chosen));
      order.push_back(code_[static_cast<std::size_t>(chosen)]);
    }
    result.cycles = time_;
    return result;
  }

 private:
  static constexpr int kNever = 1 << 30;

  struct Pressure {
    int registers = 0;
    int predicates = 0;
  };

  Pressure change(std::uint32_t i) const {
    Pressure result;
    const auto add = [&](const RegisterValue& value, int amount) {
      if (!value.address) {
        (value.predicate ? result.predicates : result.registers) += amount;
      }
    };
    for (const std::uint32_t read : graph_.reads[i]) {
      const RegisterValue& value = graph_.values[read];
      if (value.readers == 1 && !value.outlives) {
        add(value, -1);
      }
    }
    for (const std::uint32_t written : graph_.writes[i]) {
      const RegisterValue& value = graph_.values[written];
      if (value.readers > 0 || value.outlives) {
        add(value, 1);
      }
    }
    return result;
  }

  bool waits_for_hmma(std::uint32_t i) const {
    return is_ldsm(code_[i].opcode) && graph_.nodes[i].first_hmma_user >= 0;
  }

  bool more_urgent_than_next_hmma(const DependenceNode& node) const {
    const auto issued = static_cast<std::size_t>(hmmas_issued_);
    return issued < hmmas_.size() && node.priority > graph_.nodes[hmmas_[issued]].priority;
  }

  // Registers are kept free for what the next products need, so that results of later ones do not stop them.
  bool fits(std::uint32_t i) const {
    const DependenceNode& node = graph_.nodes[i];
    if (hmmas_issued_ < node.hmmas_first) {
      return false;
    }
    if (waits_for_hmma(i) && waiting_loads_ >= target_.waiting_loads) {
      return false;
    }
    const bool is_next =
        i == oldest_ || more_urgent_than_next_hmma(node) ||
        (node.first_hmma_user >= 0 && node.first_hmma_user < hmmas_issued_ + target_.next_hmmas);
    const int limit = target_.value_registers - (is_next ? 0 : target_.reserve_registers);
    const int most = static_cast<int>(graph_.writes[i].size());
    if (live_ + most <= limit && live_predicates_ + most <= target_.live_predicates) {
      return true;  // whatever it frees
    }
    const Pressure pressure = change(i);
    return (pressure.registers <= 0 || live_ + pressure.registers <= limit) &&
           (pressure.predicates <= 0 || live_predicates_ + pressure.predicates <= target_.live_predicates);
  }

  int earliest(std::uint32_t i) const {
    return std::max(ready_at_[i], ports_.earliest_choice(code_[i].opcode));
  }

  // The instruction to issue now, or -1 and the next time at which there may be one. While something more
  // urgent has to wait, the time is not filled with what may have to wait longer.
  int pick(int& next_time) const {
    bool urgent_waits = false;
    for (const std::uint32_t i : candidates_) {
      if (!fits(i)) {
        continue;
      }
      if (earliest(i) > time_ || (urgent_waits && graph_.nodes[i].waits_for_load)) {
        urgent_waits = true;
        continue;
      }
      return static_cast<int>(i);
    }
    for (const std::uint32_t i : candidates_) {
      if (earliest(i) > time_ && earliest(i) < next_time && fits(i)) {
        next_time = earliest(i);
      }
    }
    return -1;
  }

  int rank(std::uint32_t i) const {
    return graph_.nodes[i].priority - target_.source_order_cycles * static_cast<int>(i);
  }

  void add_candidate(std::uint32_t i) {
    const auto precedes = [&](std::uint32_t left, std::uint32_t right) {
      const int difference = rank(left) - rank(right);
      return difference != 0 ? difference > 0 : left < right;
    };
    candidates_.insert(std::ranges::upper_bound(candidates_, i, precedes), i);
  }

  void issue(std::uint32_t i) {
    time_ = std::max({time_, ready_at_[i], ports_.earliest(code_[i].opcode)});
    const Pressure pressure = change(i);
    live_ += pressure.registers;
    live_predicates_ += pressure.predicates;
    for (const std::uint32_t read : graph_.reads[i]) {
      --graph_.values[read].readers;
    }
    ports_.issue(code_[i], time_);
    if (is_hmma(code_[i].opcode)) {
      waiting_loads_ -= loads_for_[static_cast<std::size_t>(hmmas_issued_++)];
    }
    waiting_loads_ += waits_for_hmma(i) ? 1 : 0;
    issued_[i] = true;
    std::erase(candidates_, i);
    while (oldest_ < code_.size() && issued_[oldest_]) {
      ++oldest_;
    }
    for (const DependenceEdge& edge : graph_.successors[i]) {
      ready_at_[edge.successor] = std::max(ready_at_[edge.successor], time_ + edge.cycles);
      if (--missing_[edge.successor] == 0) {
        add_candidate(edge.successor);
      }
    }
    ++time_;
  }

  const std::vector<trace::Instruction>& code_;
  const CompilerTarget& target_;
  IssuePorts ports_;
  DependenceGraph graph_;
  std::vector<int> ready_at_;
  std::vector<int> missing_;  // predecessors not yet issued
  std::vector<bool> issued_;
  std::vector<std::uint32_t> candidates_;  // all predecessors issued; the highest rank first
  std::uint32_t oldest_ = 0;
  int time_ = 0;
  int live_;
  int live_predicates_ = 0;
  int hmmas_issued_ = 0;
  int waiting_loads_ = 0;             // LDSMs that have been issued, and their last HMMA has not
  std::vector<int> loads_for_;        // LDSMs whose last HMMA it is, by number of the HMMA
  std::vector<std::uint32_t> hmmas_;  // in their order
};

}  // namespace

ScheduledCode schedule_block(const BasicBlock& block, const BlockLiveness& liveness,
                             const CompilerTarget& target) {
  return ListScheduler(block, liveness, target).run();
}

}  // namespace warpscope::kernels

#include "kernels/machine/dependence_graph.hpp"

#include <algorithm>
#include <unordered_map>

namespace warpscope::kernels {
namespace {

using trace::Instruction;
using trace::RegisterRange;

class Builder {
 public:
  Builder(const BasicBlock& block, const BlockLiveness& liveness, const CompilerTarget& target)
      : code_(block.code), liveness_(liveness), target_(target) {}

  DependenceGraph build() {
    graph_.nodes.resize(code_.size());
    graph_.live_registers = static_cast<int>((liveness_.live_in >> kFirstValueRegister).count());
    for (std::uint32_t i = 0; i < code_.size(); ++i) {
      add_register_edges(i);
      add_order_edges(i);
    }
    mark_outliving_values();
    for (std::size_t i = code_.size(); i-- > 0;) {
      for (const DependenceEdge& edge : graph_.nodes[i].successors) {
        graph_.nodes[i].priority =
            std::max(graph_.nodes[i].priority, edge.priority + graph_.nodes[edge.successor].priority);
      }
    }
    return std::move(graph_);
  }

 private:
  struct Register {
    int writer = -1;
    std::uint32_t value = 0;
    std::vector<std::uint32_t> readers;
  };

  Register& state(int number) {
    const auto [found, is_new] = registers_.try_emplace(number);
    if (is_new) {
      found->second.value = new_value(number);
    }
    return found->second;
  }

  std::uint32_t new_value(int number) {
    graph_.values.push_back(
        {.predicate = number >= trace::kFirstPredicate, .address = number < kFirstValueRegister});
    return static_cast<std::uint32_t>(graph_.values.size() - 1);
  }

  void edge(int from, std::uint32_t to, int cycles, int priority) {
    if (from < 0 || static_cast<std::uint32_t>(from) == to) {
      return;
    }
    graph_.nodes[static_cast<std::size_t>(from)].successors.push_back({to, cycles, priority});
    ++graph_.nodes[to].predecessors;
  }

  void add_register_edges(std::uint32_t i) {
    const Instruction& instruction = code_[i];
    DependenceNode& node = graph_.nodes[i];
    for (const RegisterRange& source : instruction.sources) {
      for (int k = 0; k < source.count; ++k) {
        Register& reg = state(source.first + k);
        if (std::ranges::find(node.reads, reg.value) != node.reads.end()) {
          continue;
        }
        node.reads.push_back(reg.value);
        ++graph_.values[reg.value].readers;
        if (reg.writer >= 0) {
          const int latency = planned_latency(target_, code_[static_cast<std::size_t>(reg.writer)].opcode);
          edge(reg.writer, i, latency, latency);
          note_hmma_user(reg.writer, i);
        }
        reg.readers.push_back(i);
      }
    }
    for (int k = 0; k < instruction.destination.count; ++k) {
      const int number = instruction.destination.first + k;
      Register& reg = state(number);
      edge(reg.writer, i, 1, 1);
      for (const std::uint32_t reader : reg.readers) {
        edge(static_cast<int>(reader), i, 1, 1);
      }
      reg = {static_cast<int>(i), new_value(number), {}};
      node.writes.push_back(reg.value);
    }
  }

  void note_hmma_user(int writer, std::uint32_t user) {
    DependenceNode& node = graph_.nodes[static_cast<std::size_t>(writer)];
    if (is_ldsm(code_[static_cast<std::size_t>(writer)].opcode) && is_hmma(code_[user].opcode) &&
        node.first_hmma_user < 0) {
      node.first_hmma_user = hmmas_;
    }
  }

  void add_order_edges(std::uint32_t i) {
    const trace::Opcode opcode = code_[i].opcode;
    if (is_hmma(opcode)) {
      const int interval = issue_interval(target_, opcode);
      edge(last_hmma_, i, interval, interval);
      last_hmma_ = static_cast<int>(i);
      ++hmmas_;
    }
    if (keeps_memory_order(opcode)) {
      edge(last_memory_, i, 1, target_.memory_interval);
      last_memory_ = static_cast<int>(i);
    }
  }

  void mark_outliving_values() {
    for (const auto& [number, reg] : registers_) {
      if (number < trace::kFirstPredicate && liveness_.live_out[static_cast<std::size_t>(number)]) {
        graph_.values[reg.value].outlives = true;
      }
    }
  }

  const std::vector<Instruction>& code_;
  const BlockLiveness& liveness_;
  const CompilerTarget& target_;
  DependenceGraph graph_;
  std::unordered_map<int, Register> registers_;
  int last_hmma_ = -1;
  int last_memory_ = -1;
  int hmmas_ = 0;
};

}  // namespace

bool is_ldsm(trace::Opcode opcode) {
  return opcode >= trace::Opcode::LDSM_X4 && opcode <= trace::Opcode::LDSM_T_X2;
}

bool is_hmma(trace::Opcode opcode) {
  return trace::info(opcode).pipe == trace::Pipe::tensor;
}

bool keeps_memory_order(trace::Opcode opcode) {
  using trace::OpClass;
  const OpClass op_class = trace::info(opcode).op_class;
  return op_class == OpClass::barrier || op_class == OpClass::async_wait ||
         (trace::info(opcode).pipe == trace::Pipe::lsu && op_class != OpClass::shuffle &&
          op_class != OpClass::local_store);
}

DependenceGraph build_graph(const BasicBlock& block, const BlockLiveness& liveness,
                            const CompilerTarget& target) {
  return Builder(block, liveness, target).build();
}

}  // namespace warpscope::kernels

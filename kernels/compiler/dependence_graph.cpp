#include "kernels/compiler/dependence_graph.hpp"

#include <algorithm>
#include <numeric>

#include "kernels/compiler/backward_plan.hpp"
#include "kernels/compiler/opcode_kinds.hpp"

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
      graph_.reads.begin.push_back(graph_.reads.items.size());
      graph_.writes.begin.push_back(graph_.writes.items.size());
      note_slice(i);
      add_register_edges(i);
      add_order_edges(i);
    }
    graph_.reads.begin.push_back(graph_.reads.items.size());
    graph_.writes.begin.push_back(graph_.writes.items.size());
    for (const std::uint32_t reload : reloads_) {
      graph_.nodes[reload].hmmas_first = slice_end_;
    }
    mark_outliving_values();
    sort_edges();
    set_priorities();
    return std::move(graph_);
  }

 private:
  struct Register {
    bool used = false;
    int writer = -1;
    std::uint32_t value = 0;
    int last_reader = -1;  // index into readers_
  };

  // An instruction that read the same value of a register, and the one before it.
  struct Reader {
    std::uint32_t instruction = 0;
    int before = -1;
  };

  struct Edge {
    std::uint32_t from = 0;
    DependenceEdge edge;
  };

  Register& state(int number) {
    const auto index = static_cast<std::size_t>(number);
    if (index >= registers_.size()) {
      registers_.resize(index + 1);
    }
    Register& reg = registers_[index];
    if (!reg.used) {
      reg.used = true;
      reg.value = new_value(number);
      used_.push_back(number);
    }
    return reg;
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
    edges_.push_back({static_cast<std::uint32_t>(from), {to, cycles, priority}});
    ++graph_.nodes[to].predecessors;
  }

  void add_register_edges(std::uint32_t i) {
    const Instruction& instruction = code_[i];
    std::vector<std::uint32_t>& reads = graph_.reads.items;
    const auto first_read = static_cast<std::ptrdiff_t>(reads.size());
    for (const RegisterRange& source : instruction.sources) {
      for (int k = 0; k < source.count; ++k) {
        Register& reg = state(source.first + k);
        if (std::find(reads.begin() + first_read, reads.end(), reg.value) != reads.end()) {
          continue;
        }
        reads.push_back(reg.value);
        ++graph_.values[reg.value].readers;
        if (reg.writer >= 0) {
          const int latency = planned_latency(target_, code_[static_cast<std::size_t>(reg.writer)].opcode,
                                              instruction.opcode, static_cast<std::size_t>(source.first + k));
          edge(reg.writer, i, latency, latency);
          note_hmma_user(reg.writer, i);
        } else if (source.first + k < trace::kFirstPredicate) {
          graph_.nodes[i].waits_for_load |= liveness_.loaded_in[static_cast<std::size_t>(source.first + k)];
        }
        readers_.push_back({i, reg.last_reader});
        reg.last_reader = static_cast<int>(readers_.size()) - 1;
      }
    }
    for (int k = 0; k < instruction.destination.count; ++k) {
      const int number = instruction.destination.first + k;
      Register& reg = state(number);
      edge(reg.writer, i, 1, 1);
      for (int reader = reg.last_reader; reader >= 0;) {
        const Reader& found = readers_[static_cast<std::size_t>(reader)];
        edge(static_cast<int>(found.instruction), i, 1, 1);
        reader = found.before;
      }
      reg = {true, static_cast<int>(i), new_value(number), -1};
      graph_.writes.items.push_back(reg.value);
    }
  }

  void note_hmma_user(int writer, std::uint32_t user) {
    DependenceNode& node = graph_.nodes[static_cast<std::size_t>(writer)];
    if (!is_hmma(code_[user].opcode)) {
      return;
    }
    node.last_hmma_user = hmmas_;
    if (node.first_hmma_user >= 0) {
      return;
    }
    node.first_hmma_user = hmmas_;
    if (is_ldsm(code_[static_cast<std::size_t>(writer)].opcode) && computes_factor(code_[user])) {
      node.hmmas_first = hmmas_ - target_.load_window;
    }
  }

  /// Whether an instruction of the block other than an LDSM writes one of the two matrices that are
  /// multiplied.
  bool computes_factor(const Instruction& hmma) {
    return std::any_of(hmma.sources.begin(), hmma.sources.begin() + 2, [&](const RegisterRange& factor) {
      const int writer = state(factor.first).writer;
      return writer >= 0 && !is_ldsm(code_[static_cast<std::size_t>(writer)].opcode);
    });
  }

  /// Whether it hides a score: a select under what a comparison of integers says.
  bool is_mask(const Instruction& instruction) {
    return instruction.opcode == trace::Opcode::FSEL &&
           std::ranges::any_of(instruction.sources, [&](const RegisterRange& source) {
             const int writer = source.first >= trace::kFirstPredicate ? state(source.first).writer : -1;
             return writer >= 0 && code_[static_cast<std::size_t>(writer)].opcode == trace::Opcode::ISETP;
           });
  }

  /// Whether it tests the argument of an exponential, which a product under its predicate scales.
  bool tests_exponent(std::uint32_t i) const {
    constexpr std::size_t kFarthest = 4;  // counted instructions may stand between
    if (code_[i].opcode != trace::Opcode::FSETP) {
      return false;
    }
    const auto begin = code_.begin() + i + 1;
    return std::any_of(begin, begin + std::min<std::ptrdiff_t>(kFarthest, code_.end() - begin),
                       [&](const Instruction& next) {
                         return next.opcode == trace::Opcode::FMUL &&
                                std::ranges::any_of(next.sources, [&](const RegisterRange& source) {
                                  return source.first == code_[i].destination.first;
                                });
                       });
  }

  // Seven predicates are too few for masks and exponentials at once: in machine code 1 to 4 of 16 to 64
  // exponentials come before the last score is hidden (pytorch_backward_masks.csv).
  void add_mask_edges(std::uint32_t i) {
    if (is_mask(code_[i])) {
      masks_.push_back(i);
    } else if (tests_exponent(i)) {
      for (const std::uint32_t mask : masks_) {
        edge(static_cast<int>(mask), i, 1, 1);
      }
    }
  }

  // The first slice of a product with a factor that the block computes ends where an accumulator is added to
  // again: from there on registers of the factor are free.
  void note_slice(std::uint32_t i) {
    if (slice_end_ > 0 || !is_hmma(code_[i].opcode) || !computes_factor(code_[i])) {
      return;
    }
    product_begin_ = product_begin_ < 0 ? static_cast<int>(i) : product_begin_;
    const int writer = state(code_[i].destination.first).writer;
    if (writer >= product_begin_) {
      slice_end_ = hmmas_;
    }
  }

  void add_order_edges(std::uint32_t i) {
    const trace::Opcode opcode = code_[i].opcode;
    // Where it stands in the source, or so much sooner that its data are there then.
    if (is_ldsm(opcode)) {
      graph_.nodes[i].hmmas_first = hmmas_ - target_.shared_load_latency / target_.hmma_16816_interval;
    }
    if (is_reload(code_[i])) {
      reloads_.push_back(i);
      return;
    }
    add_mask_edges(i);
    if (is_hmma(opcode)) {
      edge(last_hmma_, i, 1, 1);
      last_hmma_ = static_cast<int>(i);
      ++hmmas_;
    }
    if (keeps_memory_order(opcode)) {
      edge(last_memory_, i, 1, target_.memory_interval);
      last_memory_ = static_cast<int>(i);
    }
  }

  // What nobody reads stands for an instruction that is known by its number only: it goes where the source
  // has it.
  bool stands_for_another(std::size_t i) const {
    return graph_.successors[i].empty() && code_[i].destination.count > 0 &&
           std::ranges::none_of(graph_.writes[i], [&](std::uint32_t written) {
             return graph_.values[written].readers > 0 || graph_.values[written].outlives;
           });
  }

  void set_priorities() {
    std::vector<bool> others(code_.size());
    for (std::size_t i = 0; i < code_.size(); ++i) {
      others[i] = stands_for_another(i);
    }
    const std::vector<int> cycles = plan_backwards(code_, graph_.successors, others, target_);
    for (std::size_t i = 0; i < code_.size(); ++i) {
      graph_.nodes[i].priority = cycles[i];
    }
  }

  void mark_outliving_values() {
    for (const int number : used_) {
      const auto index = static_cast<std::size_t>(number);
      if (number < trace::kFirstPredicate && liveness_.live_out[index]) {
        graph_.values[registers_[index].value].outlives = true;
      }
    }
  }

  // Puts the edges in the order of the nodes that they start from.
  void sort_edges() {
    NodeLists<DependenceEdge>& lists = graph_.successors;
    lists.begin.assign(code_.size() + 1, 0);
    for (const Edge& edge : edges_) {
      ++lists.begin[edge.from + 1];
    }
    std::partial_sum(lists.begin.begin(), lists.begin.end(), lists.begin.begin());
    lists.items.resize(edges_.size());
    std::vector<std::size_t> next = lists.begin;
    for (const Edge& edge : edges_) {
      lists.items[next[edge.from]++] = edge.edge;
    }
  }

  const std::vector<Instruction>& code_;
  const BlockLiveness& liveness_;
  const CompilerTarget& target_;
  DependenceGraph graph_;
  std::vector<Register> registers_ = std::vector<Register>(trace::kFirstPredicate);  // by number
  std::vector<int> used_;                                                            // their numbers
  std::vector<Reader> readers_;
  std::vector<Edge> edges_;
  int last_hmma_ = -1;
  int last_memory_ = -1;
  int hmmas_ = 0;
  int product_begin_ = -1;  // the first HMMA with a factor that the block computes
  int slice_end_ = 0;       // HMMAs of the block up to the end of that product's first slice
  std::vector<std::uint32_t> reloads_;
  std::vector<std::uint32_t> masks_;
};

}  // namespace

DependenceGraph build_graph(const BasicBlock& block, const BlockLiveness& liveness,
                            const CompilerTarget& target) {
  return Builder(block, liveness, target).build();
}

}  // namespace warpscope::kernels

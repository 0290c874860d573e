// What must come before what inside a basic block, and which values its instructions create and use up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/compiler/compiler_target.hpp"
#include "kernels/compiler/liveness.hpp"

namespace warpscope::kernels {

struct DependenceEdge {
  std::uint32_t successor = 0;
  int cycles = 0;    ///< from the issue of one to the issue of the other
  int priority = 0;  ///< the same, in the plan that says what is urgent
};

/// One value of one register, from the instruction that writes it (or the start of the block) to its last
/// reader.
struct RegisterValue {
  int readers = 0;        ///< instructions that have not yet read it
  bool outlives = false;  ///< read after the block
  bool predicate = false;
  bool address = false;  ///< not counted against the register limit
};

struct DependenceNode {
  int predecessors = 0;
  int priority = 0;             ///< cycles to the end of the block (plan_backwards)
  bool waits_for_load = false;  ///< reads what a load of an earlier block brings
  int first_hmma_user = -1;     ///< number of the first HMMA of the block that reads a result; -1 = none
  int last_hmma_user = -1;      ///< and of the last one
  int hmmas_first = 0;          ///< LDSM, reload: HMMAs of the block that are issued before it, at least
};

/// One list per node, all in one piece of memory.
template <typename T>
struct NodeLists {
  std::vector<T> items;            ///< of the first node, of the second, ...
  std::vector<std::size_t> begin;  ///< by node, and the end of all

  std::span<const T> operator[](std::size_t node) const {
    return std::span(items).subspan(begin[node], begin[node + 1] - begin[node]);
  }
};

/// Registers: a reader waits for the writer's latency, a writer one cycle for earlier readers and writers.
/// HMMAs keep their order, and so do memory instructions and barriers among themselves; their pipes decide
/// how far they are apart.
struct DependenceGraph {
  std::vector<DependenceNode> nodes;
  NodeLists<DependenceEdge> successors;
  NodeLists<std::uint32_t> reads;  ///< values, each once
  NodeLists<std::uint32_t> writes;
  std::vector<RegisterValue> values;
  int live_registers = 0;  ///< at the start of the block
};

DependenceGraph build_graph(const BasicBlock& block, const BlockLiveness& liveness,
                            const CompilerTarget& target);

}  // namespace warpscope::kernels

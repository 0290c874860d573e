// What must come before what inside a basic block, and which values its instructions create and use up.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/machine/compiler_target.hpp"
#include "kernels/machine/liveness.hpp"

namespace warpscope::kernels {

struct DependenceEdge {
  std::uint32_t successor = 0;
  int cycles = 0;    ///< from the issue of one to the issue of the other
  int priority = 0;  ///< what the edge adds to the length of a path
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
  std::vector<DependenceEdge> successors;
  int predecessors = 0;
  int priority = 0;                   ///< longest path to the end of the block, cycles
  std::vector<std::uint32_t> reads;   ///< values, each once
  std::vector<std::uint32_t> writes;  ///< values
  int first_hmma_user = -1;  ///< LDSM: number of the first HMMA of the block that reads it; -1 = none
};

/// Registers: a reader waits for the writer's latency, a writer one cycle for earlier readers and writers.
/// HMMAs keep their order, and so do memory instructions and barriers among themselves.
struct DependenceGraph {
  std::vector<DependenceNode> nodes;
  std::vector<RegisterValue> values;
  int live_registers = 0;  ///< at the start of the block
};

DependenceGraph build_graph(const BasicBlock& block, const BlockLiveness& liveness,
                            const CompilerTarget& target);

bool is_ldsm(trace::Opcode opcode);
bool is_hmma(trace::Opcode opcode);
/// Memory instructions and barriers, which stay in source order. Shuffles touch no memory, and spills none
/// that others read.
bool keeps_memory_order(trace::Opcode opcode);

}  // namespace warpscope::kernels

#include "kernels/compiler/liveness.hpp"

#include <algorithm>

namespace warpscope::kernels {
namespace {

// Entering block `block` may also mean skipping every loop that starts there.
void enter(const VirtualProgram& program, std::size_t block, std::vector<std::size_t>& targets) {
  if (block >= program.blocks.size() || std::ranges::find(targets, block) != targets.end()) {
    return;
  }
  targets.push_back(block);
  for (const VirtualLoop& loop : program.loops) {
    if (loop.first_block == block) {
      enter(program, loop.last_block + 1, targets);
    }
  }
}

template <typename Visit>
void each_general_register(const trace::RegisterRange& range, const Visit& visit) {
  for (std::size_t i = 0; i < range.count; ++i) {
    if (range.first + i < trace::kFirstPredicate) {
      visit(range.first + i);
    }
  }
}

}  // namespace

std::vector<std::vector<std::size_t>> successors(const VirtualProgram& program) {
  std::vector<std::vector<std::size_t>> result(program.blocks.size());
  for (std::size_t block = 0; block < program.blocks.size(); ++block) {
    enter(program, block + 1, result[block]);
    for (const VirtualLoop& loop : program.loops) {
      if (loop.last_block == block && !loop.at_most_once) {
        enter(program, loop.first_block, result[block]);
      }
    }
  }
  return result;
}

std::vector<BlockLiveness> block_liveness(const VirtualProgram& program) {
  const std::size_t blocks = program.blocks.size();
  std::vector<RegisterSet> used(blocks);  // read before written
  std::vector<RegisterSet> defined(blocks);
  for (std::size_t block = 0; block < blocks; ++block) {
    for (const trace::Instruction& instruction : program.blocks[block].code) {
      for (const trace::RegisterRange& source : instruction.sources) {
        each_general_register(source, [&](std::size_t r) {
          if (!defined[block][r]) {
            used[block].set(r);
          }
        });
      }
      each_general_register(instruction.destination, [&](std::size_t r) { defined[block].set(r); });
    }
  }
  RegisterSet loaded;
  for (const BasicBlock& block : program.blocks) {
    for (const trace::Instruction& instruction : block.code) {
      if (trace::info(instruction.opcode).op_class == trace::OpClass::global_load) {
        each_general_register(instruction.destination, [&](std::size_t r) { loaded.set(r); });
      }
    }
  }
  const auto next = successors(program);
  std::vector<BlockLiveness> result(blocks);
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t block = blocks; block-- > 0;) {
      RegisterSet out;
      for (const std::size_t successor : next[block]) {
        out |= result[successor].live_in;
      }
      const RegisterSet in = used[block] | (out & ~defined[block]);
      changed = changed || in != result[block].live_in || out != result[block].live_out;
      result[block] = {in, out, in & loaded};
    }
  }
  return result;
}

std::size_t most_live_registers(const VirtualProgram& program) {
  const std::vector<BlockLiveness> liveness = block_liveness(program);
  std::size_t most = 0;
  for (std::size_t block = 0; block < program.blocks.size(); ++block) {
    RegisterSet live = liveness[block].live_out;
    const std::vector<trace::Instruction>& code = program.blocks[block].code;
    most = std::max(most, live.count());
    for (auto instruction = code.rbegin(); instruction != code.rend(); ++instruction) {
      each_general_register(instruction->destination, [&](std::size_t r) { live.set(r); });
      most = std::max(most, live.count());
      each_general_register(instruction->destination, [&](std::size_t r) { live.reset(r); });
      for (const trace::RegisterRange& source : instruction->sources) {
        each_general_register(source, [&](std::size_t r) { live.set(r); });
      }
      most = std::max(most, live.count());
    }
  }
  return most;
}

}  // namespace warpscope::kernels

#include "kernels/compiler/control_bits.hpp"

#include <algorithm>
#include <utility>

#include "kernels/compiler/block_control_bits.hpp"
#include "kernels/compiler/register_ranges.hpp"
#include "kernels/compiler/register_reuse.hpp"

namespace warpscope::kernels {
namespace {

using trace::Instruction;

bool has_async_copy(const VirtualProgram& program) {
  return std::ranges::any_of(program.blocks, [](const BasicBlock& block) {
    return std::ranges::any_of(block.code, [](const Instruction& instruction) {
      return trace::info(instruction.opcode).op_class == trace::OpClass::async_copy;
    });
  });
}

bool has_late_loads(const VirtualProgram& program) {
  return std::ranges::any_of(program.blocks,
                             [](const BasicBlock& block) { return has_late_load(block.code); });
}

// Registers that some block writes and that live across blocks. Temporaries are written anew in every block,
// but never while an older use is open.
RegisterSet written_elsewhere(const VirtualProgram& program) {
  RegisterSet carried;
  for (const BlockLiveness& liveness : block_liveness(program)) {
    carried |= liveness.live_in | liveness.live_out;
  }
  RegisterSet written;
  for (const BasicBlock& block : program.blocks) {
    for (const Instruction& instruction : block.code) {
      each_register(instruction.destination, [&](std::size_t r) {
        if (r < trace::kFirstPredicate) {
          written.set(r);
        }
      });
    }
  }
  return written & carried;
}

}  // namespace

void assign_control_bits(VirtualProgram& program, const CompilerTarget& target) {
  const std::size_t blocks = program.blocks.size();
  const RegisterSet written = written_elsewhere(program);
  const Scoreboards scoreboards(has_async_copy(program), has_late_loads(program), target.hmma_scoreboard);
  const auto next = successors(program);
  std::vector<OpenDependences> entry(blocks);
  std::vector<std::vector<Instruction>> result(blocks);
  std::vector<bool> outdated(blocks, true);
  // States only grow, so this ends; two or three rounds are usual.
  while (std::ranges::find(outdated, true) != outdated.end()) {
    for (std::size_t block = 0; block < blocks; ++block) {
      if (!outdated[block]) {
        continue;
      }
      outdated[block] = false;
      OpenDependences open = entry[block];
      const BasicBlock& code = program.blocks[block];
      result[block] = with_control_bits(code.code, open, scoreboards, written,
                                        with_memory_interval(target, code.memory_interval));
      for (const std::size_t successor : next[block]) {
        if (entry[successor].join(open)) {
          outdated[successor] = true;
        }
      }
    }
  }
  for (std::size_t block = 0; block < blocks; ++block) {
    program.blocks[block].code = std::move(result[block]);
  }
}

}  // namespace warpscope::kernels

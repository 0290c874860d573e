#include "model/sm/operand_reads.hpp"

namespace warpscope::sm {

int registers_read(const trace::Instruction& instruction, const trace::Instruction* before) {
  int registers = 0;
  for (std::size_t i = 0; i < instruction.sources.size(); ++i) {
    const trace::RegisterRange& source = instruction.sources[i];
    const bool kept = before != nullptr && before->sources[i] == source;
    if (!kept && source.first < trace::kFirstPredicate) {
      registers += source.count;
    }
  }
  return registers;
}

}  // namespace warpscope::sm

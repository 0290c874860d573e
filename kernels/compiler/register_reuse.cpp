#include "kernels/compiler/register_reuse.hpp"

#include <algorithm>

#include "kernels/compiler/register_ranges.hpp"

namespace warpscope::kernels {

using trace::Instruction;
using trace::RegisterRange;

Reuse source_reuse(const std::vector<Instruction>& code, std::size_t i,
                   const RegisterSet& written_elsewhere) {
  Reuse result = Reuse::none;
  for (const RegisterRange& source : code[i].sources) {
    bool open = source.count > 0;
    for (std::size_t j = i + 1; j < code.size() && open; ++j) {
      if (code[i].destination.count > 0 && reads(code[j], code[i].destination)) {
        open = false;
      } else if (overlaps(code[j].destination, source)) {
        return Reuse::in_block;
      }
    }
    if (open && code[i].destination.count == 0) {
      each_register(source, [&](std::size_t r) {
        if (r < trace::kFirstPredicate && written_elsewhere[r]) {
          result = Reuse::later;
        }
      });
    }
  }
  return result;
}

bool is_late_load(const std::vector<Instruction>& code, std::size_t i) {
  return trace::info(code[i].opcode).op_class == trace::OpClass::global_load &&
         std::none_of(code.begin() + static_cast<std::ptrdiff_t>(i) + 1, code.end(),
                      [&](const Instruction& later) { return reads(later, code[i].destination); });
}

bool has_late_load(const std::vector<Instruction>& code) {
  for (std::size_t i = 0; i < code.size(); ++i) {
    if (is_late_load(code, i)) {
      return true;
    }
  }
  return false;
}

}  // namespace warpscope::kernels

#include "kernels/fa2/combine_figures.hpp"

#include <utility>

namespace warpscope::kernels::fa2 {
namespace {

using trace::Opcode;

// PyTorch 2.11's flash_fwd_splitkv_combine_kernel<128, 4, 4> for sm_90: how often each line ran, but for what
// the trace machine expands (experiments/reference/measured-h100/combine_code.md). Upstream's build differs
// in its fast exponentials and logarithm. Some ten divisions stand one behind the other, for strides of
// tensors that only ragged batches need. Chains: lines that wait for a result where the code runs in order.
// XU instructions of a division: I2F, MUFU.RCP, F2I; ISETP, whose predicate guards what follows. BSYNC counts
// as BRA.
CountedPart combine_begin() {
  return {{.spread = {{Opcode::IADD3, 48},
                      {Opcode::IMAD, 49},
                      {Opcode::MOV, 5},
                      {Opcode::UMOV, 5},
                      {Opcode::ULDC, 5, 5},
                      {Opcode::NOP, 9},
                      {Opcode::BRA, 11}},
           .chain = {{Opcode::LDC, 4, 4},
                     {Opcode::I2F, 30},
                     {Opcode::IMAD, 65},
                     {Opcode::IADD3, 60},
                     {Opcode::ISETP, 27}},
           .end = BlockEnd::join}};
}

CountedPart combine_load() {
  return {{.spread = {{Opcode::IADD3, 6}, {Opcode::IMAD, 3}, {Opcode::ULDC, 1, 1}},
           .chain = {{Opcode::IMAD, 2}, {Opcode::IADD3, 2}}}};
}

CountedPart combine_log(Build build) {
  CountedBlock block{.spread = {{Opcode::IADD3, 6}, {Opcode::ULDC, 2, 1}, {Opcode::BRA, 2}}};
  if (build == Build::torch) {
    block.chain = {{Opcode::FFMA, 10}};  // logf
  }
  return {std::move(block)};
}

CountedPart combine_weights() {
  return {{.spread = {{Opcode::IADD3, 24}, {Opcode::IMAD, 20}, {Opcode::NOP, 4}, {Opcode::BRA, 4}},
           .chain = {{Opcode::I2F, 6}, {Opcode::IMAD, 16}, {Opcode::IADD3, 15}, {Opcode::ISETP, 4}}}};
}

CountedPart combine_sum() {
  return {
      {.spread =
           {{Opcode::IADD3, 8}, {Opcode::IMAD, 4}, {Opcode::UMOV, 7}, {Opcode::ULDC, 2, 1}, {Opcode::BRA, 2}},
       .chain = {{Opcode::LDC, 1}, {Opcode::IADD3, 3}}}};
}

CountedPart combine_end() {
  return {
      {.spread = {{Opcode::IADD3, 13}, {Opcode::IMAD, 23}, {Opcode::ULDC, 4, 2}},
       .chain = {
           {Opcode::LDC, 1}, {Opcode::I2F, 6}, {Opcode::IMAD, 16}, {Opcode::IADD3, 15}, {Opcode::ISETP, 2}}}};
}

}  // namespace

BuildFigures combine_figures(Build build) {
  BuildFigures result;
  result.estimate_moves = false;
  result.parts[{kCombineBegin, 0}] = combine_begin();
  result.parts[{kCombineLoad, 0}] = combine_load();
  result.parts[{kCombineLog, 0}] = combine_log(build);
  result.parts[{kCombineWeights, 0}] = combine_weights();
  result.parts[{kCombineSum, 0}] = combine_sum();
  result.parts[{kCombineFour, 0}] = {{.spread = {{Opcode::IADD3, 11}, {Opcode::UMOV, 4}}}};
  result.parts[{kCombineTwo, 0}] = {
      {.spread = {{Opcode::IADD3, 9}, {Opcode::UMOV, 3}, {Opcode::BRA, 1}}, .chain = {{Opcode::ISETP, 1}}}};
  result.parts[{kCombineOne, 0}] = {{.spread = {{Opcode::IADD3, 2}, {Opcode::NOP, 1}}}};
  result.parts[{kCombineEnd, 0}] = combine_end();
  if (build == Build::torch) {
    result.math = {.fast_exp2 = false, .fast_division = false};
  }
  return result;
}

}  // namespace warpscope::kernels::fa2

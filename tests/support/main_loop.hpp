// The main loop of FlashAttention-2, for tests against machine code.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/kernel.hpp"
#include "tests/support/gpu_limits.hpp"

namespace warpscope::tests {

/// Instructions of the last loop with the most HMMAs of a pass: 8 heads, as many queries as keys.
inline std::vector<trace::Instruction> main_loop(std::int64_t head_dim, bool causal, std::int64_t tokens,
                                                 const char* kernel = "fa2_torch",
                                                 const kernels::GpuLimits& limits = kH200,
                                                 kernels::Pass pass = kernels::Pass::forward) {
  kernels::Problem problem{1, 8, 8, tokens, tokens, head_dim, causal};
  problem.pass = pass;
  const trace::Trace built = kernels::find_kernel(kernel).build(problem, limits);
  std::span<const trace::Instruction> most;
  std::ptrdiff_t most_hmmas = 0;
  for (const trace::Launch& launch : built.launches) {
    for (const trace::WarpProgram& program : launch.programs) {
      for (const trace::Loop& loop : program.loops) {
        const std::span body = std::span(program.code).subspan(loop.begin, loop.end - loop.begin);
        const auto hmmas =
            std::ranges::count(body, trace::Opcode::HMMA_16816_F32, &trace::Instruction::opcode);
        if (hmmas >= most_hmmas && hmmas > 0) {
          most = body;
          most_hmmas = hmmas;
        }
      }
    }
  }
  return {most.begin(), most.end()};
}

}  // namespace warpscope::tests

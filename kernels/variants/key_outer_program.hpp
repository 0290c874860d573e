// FlashAttention-1's loops with FlashAttention-2's division of work: each warp owns query rows.
#pragma once

#include "kernels/fa1/config.hpp"
#include "kernels/fa1/schedule.hpp"
#include "kernels/machine/machine.hpp"

namespace warpscope::kernels::variants {

/// Queries pass by a block of keys in shared memory; their output so far and what is kept of their rows come
/// from and go to global memory. Tensors are those of fa1::Program. Beyond the source's instructions a step
/// executes what FlashAttention-1's build adds to one of its own.
class KeyOuterProgram {
 public:
  KeyOuterProgram(const Problem& problem, const fa1::Config& config, const fa1::Schedule& schedule)
      : problem_(problem), config_(config), schedule_(schedule) {}

  void operator()(CtaMachine& machine) const;

 private:
  Problem problem_;
  fa1::Config config_;
  fa1::Schedule schedule_;
};

}  // namespace warpscope::kernels::variants

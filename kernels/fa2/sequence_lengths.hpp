// Sequences of their own lengths, one behind the other in memory (flash_attn_varlen_func): what a CTA reads
// of them, and where its sequence lies.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/kernel.hpp"
#include "kernels/machine/build_figures.hpp"
#include "kernels/machine/machine.hpp"
#include "kernels/machine/plan.hpp"

namespace warpscope::kernels::fa2 {

/// Symbols of a CTA class behind its last key block. A segment is one head of one sequence, in which rows
/// that only longer sequences have come first.
enum LengthSymbol : int {
  kRowsBefore = 1,  ///< the sequence's own, in its segment
  kLastKeys,        ///< first row of the last key block
  kLength,
};

/// For CTAs of a sequence of `length` of at most `longest`, whose last key block begins at key `last_key`.
void add_length_symbols(PlanClass& target, std::int64_t length, std::int64_t longest, std::int64_t last_key);

/// Where this CTA's sequence begins and ends, and the branch to the exit for CTAs behind its end.
void read_lengths(CtaMachine& machine);
/// What the build has for that beside what the machine expands.
void add_length_figures(BuildFigures& figures);

/// Makes `tensors` of Q, K, V, O and LSE those of the packed batch, and adds where each sequence begins.
void pack_sequences(std::vector<TensorSpec>& tensors, const Problem& problem);

}  // namespace warpscope::kernels::fa2

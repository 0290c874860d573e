// What a CTA does before its first copies and behind its last product: parameters of the launch, and index
// arithmetic with them.
#pragma once

#include <vector>

#include "kernels/machine/build_figures.hpp"

namespace warpscope::kernels {

/// Lines of 64 bytes of its parameters that a kernel reads before its first copies.
struct ParameterLines {
  int loaded = 0;    ///< by LDC
  int operands = 0;  ///< by ULDC, or as operands of other instructions
};

/// The counted instructions `kinds` of that part of a kernel as a block of their own, for copies need the
/// addresses. LDCs are taken out of the NOPs, which stand for all of the control path, ULDCs out of the UMOV.
CountedPart cta_begin(std::vector<CountedInstruction> kinds, const ParameterLines& parameters);

/// The counted instructions `kinds` of the part of a kernel that stores its results.
CountedPart cta_end(std::vector<CountedInstruction> kinds);

}  // namespace warpscope::kernels

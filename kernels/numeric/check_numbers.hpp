// Runs a kernel on random numbers and compares what it computes with its reference.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/kernel.hpp"
#include "kernels/numeric/flop_count.hpp"

namespace warpscope::kernels {

/// An output that was compared.
struct OutputCheck {
  std::string tensor;
  double largest_error = 0;  ///< infinity where a value is NaN or was not written
  double tolerance = 0;      ///< one unit in the last place of the terms' magnitude for each rounding

  bool passed() const { return largest_error <= tolerance; }
};

struct NumberCheck {
  std::vector<OutputCheck> outputs;
  FlopCount flops;  ///< that the numeric machine executed

  bool passed() const;
};

/// Multiply-adds of a problem as mathematics has them; 64 for each element of row kernels, whose elements
/// cost more than a multiply-add each.
double multiply_adds(const Problem& problem);
/// Problems above take longer than a minute.
inline constexpr double kMostMultiplyAdds = 2147483648.0;

/// Inputs are uniform in [-1, 1] and follow from `seed`. A backward pass alone finds O and LSE (or
/// probabilities) as mathematics has them, rounded; behind a forward pass it finds what that has computed.
/// Throws UnsupportedProblem for what the kernel refuses and for problems of more than kMostMultiplyAdds,
/// std::logic_error where the program breaks a rule of the machine.
NumberCheck check_numbers(const Kernel& kernel, const Problem& problem, const GpuLimits& limits,
                          std::uint32_t seed = 1);

}  // namespace warpscope::kernels

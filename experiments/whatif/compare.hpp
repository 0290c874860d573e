// `warpscope compare`: what differs between two runs, and whether it is more than chance.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "experiments/whatif/ensemble.hpp"

namespace warpscope::experiments {

/// One number of both sides.
struct ComparedNumber {
  std::string group;  ///< "busy", "stalls", "HBM bytes", ...
  std::string name;   ///< "tensor pipe"
  double a = 0;
  double b = 0;
  double plus_minus = 0;  ///< what chance makes of the difference
  double effect = 0;      ///< size of the difference, comparable within its group
};

struct Comparison {
  Ensemble a;
  Ensemble b;
  Difference time;
  std::vector<ComparedNumber> numbers;  ///< by group, largest effect first; those that do not differ left out
};

/// Throws UsageError where a side cannot be simulated.
Comparison compare(const Point& a, const Point& b, const PoolOptions& workers);
/// The same from results that are there.
Comparison compare(Ensemble a, Ensemble b);

/// How the sides differ, in one sentence.
std::string sentence(const Comparison& comparison);
/// A table of what differs, and the sentence.
std::string compare_text(const Comparison& comparison);
nlohmann::ordered_json compare_json(const Comparison& comparison);

}  // namespace warpscope::experiments

// Points files and outputs of sweeps, for the tests.
#pragma once

#include <string>

#include "tests/cli/program.hpp"

namespace warpscope::cli_test {

inline const std::string kPointsHeader = "impl,pass,batch,heads,seqlen_q,head_dim";

/// A points file of `count` different points that take some milliseconds each.
inline std::string small_points(int count) {
  std::string text = kPointsHeader + '\n';
  for (int i = 0; i < count; ++i) {
    text += (i % 2 == 0 ? "fa2,fwd,1,1," : "fa1,fwd,1,1,") + std::to_string(16 + i) + ",32\n";
  }
  return text;
}

/// A sweep of points.csv to out.csv.
inline Arguments sweep_of_points(const Arguments& more = {}) {
  Arguments arguments = {"sweep", "--points", "points.csv", "--gpu", "h200-sxm-141gb", "-o", "out.csv"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

}  // namespace warpscope::cli_test

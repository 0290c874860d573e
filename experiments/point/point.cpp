#include "experiments/point/point.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdlib>

#include "experiments/base/data_directory.hpp"

namespace warpscope::experiments {

const char* text(kernels::DataType dtype) {
  return dtype == kernels::DataType::fp16 ? "fp16" : "bf16";
}

const char* text(kernels::ProblemType type) {
  constexpr std::array kNames = {"attention", "rows", "gemm"};
  return kNames[static_cast<std::size_t>(type)];
}

std::string matrix_text(const kernels::Problem& problem) {
  const auto [rows, cols, depth] = problem.matrix;
  const bool is_product = problem.type == kernels::ProblemType::gemm;
  return fmt::format("{}{} rows x {} columns{}, {}",
                     is_product ? fmt::format("batch {}, ", problem.batch) : "", rows, cols,
                     is_product ? fmt::format(" x depth {}", depth) : "", text(problem.dtype));
}

std::string splits_text(const kernels::Problem& problem) {
  return problem.num_splits == kernels::kAutoSplits ? "auto" : std::to_string(problem.num_splits);
}

std::string extras_text(const kernels::Problem& problem, const char* before) {
  std::string text;
  const auto add = [&](bool given, const std::string& what) { text += given ? before + what : ""; };
  add(problem.num_splits != 1, "num_splits " + splits_text(problem));
  add(problem.window.is_given(), fmt::format("window {},{}", problem.window.left, problem.window.right));
  add(problem.softcap != 0, fmt::format("softcap {}", problem.softcap));
  add(problem.alibi, "ALiBi");
  return text;
}

std::filesystem::path config_directory() {
  const char* chosen = std::getenv("WARPSCOPE_HWCONFIGS");
  return chosen != nullptr && *chosen != '\0' ? chosen : data_directory("hwconfigs", "hwconfigs");
}

}  // namespace warpscope::experiments

#include "experiments/point/point.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <numeric>

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

std::string lengths_text(const kernels::Problem& problem) {
  constexpr std::size_t kMostShown = 8;
  const std::vector<std::int64_t>& lengths = problem.seqlens;
  if (lengths.size() <= kMostShown) {
    return fmt::format("seqlens {}", fmt::join(lengths, ","));
  }
  return fmt::format("seqlens {} to {}, {} together", std::ranges::min(lengths), std::ranges::max(lengths),
                     std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0}));
}

std::string extras_text(const kernels::Problem& problem, const char* before) {
  std::string text;
  const auto add = [&](bool given, const std::string& what) { text += given ? before + what : ""; };
  add(problem.num_splits != 1, "num_splits " + splits_text(problem));
  add(problem.window.is_given(), fmt::format("window {},{}", problem.window.left, problem.window.right));
  add(problem.softcap != 0, fmt::format("softcap {}", problem.softcap));
  add(problem.alibi, "ALiBi");
  add(problem.dropout > 0, fmt::format("dropout {}", problem.dropout));
  add(problem.page_size > 0, fmt::format("page_size {}", problem.page_size));
  add(problem.deterministic, "deterministic");
  add(problem.heads_first, "heads first");
  add(!problem.seqlens.empty(), lengths_text(problem));
  return text;
}

std::filesystem::path config_directory() {
  const char* chosen = std::getenv("WARPSCOPE_HWCONFIGS");
  return chosen != nullptr && *chosen != '\0' ? chosen : data_directory("hwconfigs", "hwconfigs");
}

}  // namespace warpscope::experiments

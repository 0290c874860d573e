#include "experiments/point/point_json.hpp"

#include <fmt/format.h>

#include "experiments/point/json_integer.hpp"

namespace warpscope::experiments {

using Json = nlohmann::json;

Json to_json(const Point& point) {
  const auto& [gpu, overrides, options] = point.model;
  // Bound by structure, so that a field that is added to the problem cannot be forgotten here: results of
  // different problems would be taken for one another.
  const auto& [batch, heads, heads_kv, seqlen_q, seqlen_k, head_dim, causal, dtype, pass, type, matrix,
               num_splits, window, softcap, alibi, seqlens, dropout, page_size, deterministic, heads_first] =
      point.problem;
  const auto& [rows, cols, depth] = matrix;
  return {{"gpu", gpu},
          {"set", overrides},
          {"mode", options.mode == gpu::Mode::fast ? "fast" : "detailed"},
          {"l2", options.warm_l2 ? "warm" : "cold"},
          {"kernel", point.kernel},
          {"pass", text(pass)},
          {"batch", batch},
          {"heads", heads},
          {"heads_kv", heads_kv},
          {"seqlen_q", seqlen_q},
          {"seqlen_k", seqlen_k},
          {"head_dim", head_dim},
          {"causal", causal},
          {"dtype", text(dtype)},
          {"num_splits", num_splits},
          {"window", {window.left, window.right}},
          {"softcap", softcap},
          {"alibi", alibi},
          {"seqlens", seqlens},
          {"dropout", dropout},
          {"page_size", page_size},
          {"deterministic", deterministic},
          {"heads_first", heads_first},
          {"problem_type", text(type)},
          {"rows", rows},
          {"cols", cols},
          {"depth", depth}};
}

Point point_from_json(const Json& json) {
  Point point;
  json.at("gpu").get_to(point.model.gpu);
  json.at("set").get_to(point.model.overrides);
  point.model.options.mode = json.at("mode") == "fast" ? gpu::Mode::fast : gpu::Mode::detailed;
  point.model.options.warm_l2 = json.at("l2") == "warm";
  json.at("kernel").get_to(point.kernel);
  kernels::Problem& problem = point.problem;
  const std::string pass = json.at("pass");
  for (const auto candidate : {kernels::Pass::backward, kernels::Pass::both}) {
    problem.pass = pass == text(candidate) ? candidate : problem.pass;
  }
  read_integer(json, "batch", problem.batch);
  read_integer(json, "heads", problem.heads);
  read_integer(json, "heads_kv", problem.heads_kv);
  read_integer(json, "seqlen_q", problem.seqlen_q);
  read_integer(json, "seqlen_k", problem.seqlen_k);
  read_integer(json, "head_dim", problem.head_dim);
  json.at("causal").get_to(problem.causal);
  problem.dtype = json.at("dtype") == "fp16" ? kernels::DataType::fp16 : kernels::DataType::bf16;
  const std::string type = json.at("problem_type");
  for (const auto candidate : {kernels::ProblemType::rows, kernels::ProblemType::gemm}) {
    problem.type = type == text(candidate) ? candidate : problem.type;
  }
  read_integer(json, "num_splits", problem.num_splits);
  const Json& window = json.at("window");
  to_integer(window.at(0), "window", problem.window.left);
  to_integer(window.at(1), "window", problem.window.right);
  json.at("softcap").get_to(problem.softcap);
  json.at("alibi").get_to(problem.alibi);
  for (const Json& length : json.at("seqlens")) {
    to_integer(length, "seqlens", problem.seqlens.emplace_back());
  }
  json.at("dropout").get_to(problem.dropout);
  read_integer(json, "page_size", problem.page_size);
  json.at("deterministic").get_to(problem.deterministic);
  json.at("heads_first").get_to(problem.heads_first);
  read_integer(json, "rows", problem.matrix.rows);
  read_integer(json, "cols", problem.matrix.cols);
  read_integer(json, "depth", problem.matrix.depth);
  return point;
}

std::string describe(const Point& point) {
  const kernels::Problem& problem = point.problem;
  if (problem.type != kernels::ProblemType::attention) {
    return fmt::format("{} {} on {}", point.kernel, matrix_text(problem), point.model.gpu);
  }
  return fmt::format("{} {} {} b {} h {}/{} q {} k {} d {}{}{} on {}", point.kernel, text(problem.pass),
                     text(problem.dtype), problem.batch, problem.heads, problem.heads_kv, problem.seqlen_q,
                     problem.seqlen_k, problem.head_dim, problem.causal ? " causal" : "",
                     extras_text(problem, " "), point.model.gpu);
}

}  // namespace warpscope::experiments

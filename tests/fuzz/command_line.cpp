// Words of `warpscope run`, one a line: what they name is a point, and where it is small a valid trace.
#include <CLI/CLI.hpp>
#include <algorithm>

#include "experiments/base/usage_error.hpp"
#include "experiments/commands/problem_flags.hpp"
#include "experiments/point/point_json.hpp"
#include "experiments/point/run.hpp"
#include "kernels/unsupported.hpp"
#include "tests/fuzz/stock_gpu.hpp"
#include "tests/fuzz/targets.hpp"
#include "tests/fuzz/words.hpp"

namespace warpscope::fuzz {
namespace {

using namespace experiments;

constexpr double kMostScores = 1 << 20;
constexpr std::int64_t kMostRows = 4096;  // of all queries and keys together

Point read_point(std::string_view input) {
  CLI::App app;
  ProblemFlags problem;
  ModelFlags model;
  problem.add_to(app);
  model.add_to(app);
  std::vector<std::string> words = pieces(input, '\n');
  std::ranges::reverse(words);  // as CLI11 wants them
  app.parse(words);
  model.require_gpu();
  return problem.read(model.read());
}

bool is_small(const kernels::Problem& problem) {
  const std::int64_t sequences = problem.batch * problem.heads;
  return sequences * (problem.seqlen_q + problem.seqlen_k) <= kMostRows &&
         static_cast<double>(sequences * problem.seqlen_q) * static_cast<double>(problem.seqlen_k) <=
             kMostScores;
}

}  // namespace

bool command_line(std::string_view input) {
  try {
    const Point point = read_point(input);
    require(to_json(point_from_json(to_json(point))) == to_json(point), "a point changes on its way");
    const hw::HwConfig config = stock_gpu(point.model.gpu, point.model.overrides);
    if (is_small(point.problem)) {
      trace::validate(kernels::find_kernel(point.kernel).build(point.problem, limits_of(config)));
    }
    return true;
  } catch (const CLI::ParseError& error) {
    require(error.get_exit_code() == 0 || *error.what() != '\0', "refused without a reason");
  } catch (const UsageError& error) {
    require_one_line(error.what());
  } catch (const hw::ConfigError& error) {
    require(!error.problems().empty(), "refused without a reason");
  } catch (const kernels::UnsupportedProblem& error) {
    require_one_line(error.what());
  }
  return false;
}

}  // namespace warpscope::fuzz

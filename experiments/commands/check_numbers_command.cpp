// `warpscope check-numbers`: does a kernel compute what it should?
#include <fmt/format.h>

#include <array>
#include <memory>
#include <utility>

#include "experiments/base/output.hpp"
#include "experiments/base/text_table.hpp"
#include "experiments/commands/command.hpp"
#include "experiments/commands/problem_flags.hpp"
#include "experiments/point/point_json.hpp"
#include "experiments/point/run.hpp"
#include "experiments/report/units.hpp"
#include "kernels/numeric/check_numbers.hpp"
#include "model/hw/config_loader.hpp"

namespace warpscope::experiments {
namespace {

struct CheckFlags {
  ProblemFlags problem;
  std::string gpu = "h100-sxm5-80gb";
};

std::string flop_table(const kernels::FlopCount& flops) {
  using Align = TextTable::Align;
  const std::array<std::pair<const char*, std::int64_t>, 11> kinds = {
      std::pair{"matrix products", flops.matmul},
      std::pair{"exponentials", flops.exponential},
      std::pair{"scaling before exponentials", flops.score_scale},
      std::pair{"masks", flops.mask},
      std::pair{"row maxima", flops.max},
      std::pair{"row sums", flops.sum},
      std::pair{"tiles times rows or numbers", flops.tile_scale},
      std::pair{"sums of tiles", flops.tile_add},
      std::pair{"other arithmetic on tiles", flops.tile_other},
      std::pair{"arithmetic on one value per row", flops.row_vector},
      std::pair{"reciprocals and logarithms", flops.reciprocal_log}};
  TextTable table({{"Operations that it executed", Align::left}, {"FLOPs"}});
  for (const auto& [kind, count] : kinds) {
    if (count > 0) {
      table.add_row({kind, grouped(count)});
    }
  }
  return table.text();
}

std::string output_lines(const kernels::NumberCheck& check) {
  std::string text;
  for (const kernels::OutputCheck& output : check.outputs) {
    text += fmt::format(
        "  largest error  {:>10.3g}  in {}, against double precision\n"
        "  tolerance      {:>10.3g}  {}\n",
        output.largest_error, output.tensor, output.tolerance, output.passed() ? "met" : "NOT MET");
  }
  return text;
}

Status check_numbers_command(const CheckFlags& flags) {
  ModelChoice model;
  model.gpu = flags.gpu;
  const Point point = flags.problem.read(model);
  const kernels::GpuLimits limits = limits_of(hw::load(model.gpu, {}, config_directory()).config);
  const kernels::NumberCheck check =
      kernels::check_numbers(kernels::find_kernel(point.kernel), point.problem, limits);
  print_output(fmt::format("{}\n\n{}\n{}", describe(point), output_lines(check), flop_table(check.flops)));
  return check.passed() ? Status::done : Status::check_failed;
}

}  // namespace

void add_check_numbers_command(CLI::App& app, Action& action) {
  CLI::App* verb =
      app.add_subcommand("check-numbers", "Compare what a kernel computes with double precision");
  verb->footer(
      fmt::format("The CTA programs that `run` times are computed with random inputs. Exit status 1: the\n"
                  "error is beyond the tolerance. Refused: more than {:.3g} multiply-adds.",
                  kernels::kMostMultiplyAdds));
  const auto flags = std::make_shared<CheckFlags>();
  flags->problem.add_to(*verb);
  verb->add_option("--gpu", flags->gpu, "GPU that tiles are for (default: h100-sxm5-80gb)")
      ->type_name("NAME");
  verb->callback([flags, &action] { action = [flags] { return check_numbers_command(*flags); }; });
}

}  // namespace warpscope::experiments

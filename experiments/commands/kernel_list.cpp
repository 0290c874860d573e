#include "experiments/commands/kernel_list.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <optional>
#include <stdexcept>

#include "experiments/base/printable.hpp"
#include "experiments/base/text_table.hpp"
#include "experiments/base/usage_error.hpp"
#include "experiments/base/wrapped_text.hpp"
#include "experiments/commands/kernel_facts.hpp"
#include "experiments/point/point.hpp"
#include "experiments/point/run.hpp"
#include "kernels/kernel_survey.hpp"
#include "model/hw/config_loader.hpp"

namespace warpscope::experiments {
namespace {

using kernels::Kernel;
using kernels::Pass;
using Align = TextTable::Align;
using Json = nlohmann::ordered_json;

constexpr std::array<std::int64_t, 2> kTwoHeadDims = {64, 128};
constexpr std::array<std::int64_t, 6> kMoreHeadDims = {32, 64, 96, 128, 192, 256};

kernels::GpuLimits limits_by_name(const std::string& gpu) {
  return limits_of(hw::load(gpu, {}, config_directory()).config);
}

Kernel kernel_by_name(const std::string& name) {
  try {
    return kernels::find_kernel(name);
  } catch (const std::invalid_argument& error) {
    throw UsageError(fmt::format("list kernels {}: {}", in_quotes(name), error.what()));
  }
}

/// In percent, with the mark of a high one.
std::string cell(const std::optional<TableShare>& share) {
  return share ? fmt::format("{:.1f}{}", 100 * share->share, share->is_high() ? '*' : ' ') : "- ";
}

/// "8 to 256 by 8" or "64, 128".
std::string numbers_text(const std::vector<std::int64_t>& numbers) {
  if (numbers.size() > 2) {
    const std::int64_t step = numbers[1] - numbers[0];
    if (numbers.back() == numbers.front() + step * (std::ssize(numbers) - 1)) {
      return fmt::format("{} to {}{}", numbers.front(), numbers.back(),
                         step > 1 ? fmt::format(" by {}", step) : "");
    }
  }
  return fmt::format("{}", fmt::join(numbers, ", "));
}

/// The lines below a kernel's name.
std::string facts_text(const KernelFacts& facts) {
  constexpr std::string_view kIndent = "  ";
  std::string taken;
  if (facts.is_attention()) {
    taken = "head dimensions " + numbers_text(facts.forward_head_dims);
    if (facts.kernel.has(Pass::backward) && facts.backward_head_dims != facts.forward_head_dims) {
      const bool none = facts.backward_head_dims.empty();
      taken += fmt::format(" (bwd {})", none ? "none" : numbers_text(facts.backward_head_dims));
    }
    taken += fmt::format("; masks {}; ", fmt::join(facts.masks, ", "));
  }
  const std::string& build = facts.kernel.source_build;
  return wrapped(facts.kernel.description, kIndent) +
         wrapped(fmt::format("{}{}", taken, fmt::join(facts.dtypes, ", ")), kIndent) +
         wrapped("build: " + (build.empty() ? "none" : build), kIndent);
}

std::string reference_text(const std::string& gpu) {
  const kernels::Problem problem = kernels::survey_problem(kernels::all_kernels().front(), Pass::forward);
  return fmt::format("{} heads of {} tokens (or as many rows and columns) execute, fp16, as compiled for {}",
                     problem.heads, problem.seqlen_q, gpu);
}

std::string explanation(const std::string& gpu, const char* more) {
  return wrapped(
      fmt::format("table %: of the warp instructions that {}, the share that was counted in a build and "
                  "stands in tables; the others are what the program's text expands to. *: above {:.0f} "
                  "%.{}",
                  reference_text(gpu), 100 * TableShare::kMost, more),
      "  ");
}

Json facts_json(const KernelFacts& facts) {
  Json passes = Json::array();
  for (const Pass pass : {Pass::forward, Pass::backward, Pass::both}) {
    if (facts.kernel.has(pass)) {
      passes.push_back(kernels::text(pass));
    }
  }
  Json shares = Json::array();
  for (const TableShare& share : facts.shares) {
    shares.push_back({{"pass", kernels::text(share.pass)},
                      {"head_dim", share.head_dim},
                      {"causal", share.causal},
                      {"share", share.share}});
  }
  return {{"name", facts.kernel.name},
          {"description", facts.kernel.description},
          {"problem_type", text(facts.kernel.type)},
          {"passes", passes},
          {"head_dims", {{"fwd", facts.forward_head_dims}, {"bwd", facts.backward_head_dims}}},
          {"masks", facts.masks},
          {"dtypes", facts.dtypes},
          {"build", facts.kernel.source_build},
          {"table_shares", shares}};
}

}  // namespace

std::string kernels_text(const std::string& gpu) {
  const kernels::GpuLimits limits = limits_by_name(gpu);
  constexpr const char* kRow = "{:<16}{:<21}{:>8}{:>8}{:>12}{:>8}\n";
  std::string text = fmt::format("{:<16}{:<21}{:>14}{:>20}\n", "name", "passes", "table %: fwd", "bwd") +
                     fmt::format(kRow, "", "", "d 64 ", "d 128 ", "d 64 ", "d 128 ");
  for (const Kernel& kernel : kernels::all_kernels()) {
    const KernelFacts facts = facts_of(kernel, limits, kTwoHeadDims, false);
    const bool has_one = facts.shares.size() == 1;  // whatever the head dimension
    const auto share = [&](Pass pass, std::int64_t head_dim) {
      return cell(facts.share(pass, has_one && head_dim == kTwoHeadDims[0] ? 0 : head_dim, false));
    };
    text += fmt::format(kRow, kernel.name, kernel.legal_passes(), share(Pass::forward, 64),
                        share(Pass::forward, 128), share(Pass::backward, 64), share(Pass::backward, 128));
    text += facts_text(facts);
  }
  return text + '\n' +
         explanation(gpu, " `warpscope list kernels NAME` has more head dimensions and the causal mask.");
}

std::string kernel_text(const std::string& name, const std::string& gpu) {
  const KernelFacts facts = facts_of(kernel_by_name(name), limits_by_name(gpu), kMoreHeadDims, true);
  TextTable table({{"pass", Align::left}, {"head dim"}, {"table %"}, {"causal"}});
  for (const TableShare& share : facts.shares) {
    if (!share.causal) {
      table.add_row({kernels::text(share.pass), share.head_dim > 0 ? std::to_string(share.head_dim) : "-",
                     cell(share), cell(facts.share(share.pass, share.head_dim, true))});
    }
  }
  return fmt::format("{}: {}\n", facts.kernel.name, facts.kernel.legal_passes()) + facts_text(facts) + '\n' +
         table.text("  ") + '\n' + explanation(gpu, "");
}

Json kernels_json(const std::string& name, const std::string& gpu) {
  const kernels::GpuLimits limits = limits_by_name(gpu);
  Json kernels = Json::array();
  if (!name.empty()) {
    kernels.push_back(facts_json(facts_of(kernel_by_name(name), limits, kMoreHeadDims, true)));
  } else {
    for (const Kernel& kernel : kernels::all_kernels()) {
      kernels.push_back(facts_json(facts_of(kernel, limits, kTwoHeadDims, true)));
    }
  }
  return {{"table_shares_of", reference_text(gpu)}, {"gpu", gpu}, {"kernels", kernels}};
}

}  // namespace warpscope::experiments

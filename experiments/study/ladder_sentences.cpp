// Why FlashAttention-2 wins, in sentences made of the ladder's numbers.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "experiments/study/ladder.hpp"

namespace warpscope::experiments {
namespace {

constexpr double kGiga = 1e9;
constexpr double kMega = 1e6;
constexpr int kHeadDim = 128;

/// The ladder and the single changes of one problem.
struct Told {
  std::span<const LadderCase> cases;
  const GridGpu& gpu;
  kernels::Pass pass = kernels::Pass::forward;

  const LadderCase* find(LadderSeries series, std::string_view change, std::string_view variant = "") const {
    const auto found = std::ranges::find_if(cases, [&](const LadderCase& of) {
      const kernels::Problem& problem = of.point.problem;
      return of.gpu == &gpu && of.pass() == pass && of.series == series && of.change == change &&
             (variant.empty() || of.variant == variant) && problem.head_dim == kHeadDim && !problem.causal &&
             problem.seqlen_q == kSummarySeqlen;
    });
    return found != cases.end() && found->done() ? &*found : nullptr;
  }

  const LadderCase* above(const LadderCase& of) const { return of.base ? &cases[*of.base] : nullptr; }
};

std::string gained(const Told& told, const LadderCase& of) {
  const std::optional<Speedup> factor = speedup(told.cases, of);
  if (!factor) {
    return "nothing that was simulated";
  }
  if (!factor->is_certain()) {
    return fmt::format("no measurable difference ({:.3f})", factor->factor);
  }
  const std::string spread =
      factor->plus_minus ? fmt::format(" ± {:.2f}", std::max(0.01, *factor->plus_minus)) : "";
  return factor->factor > 1 ? fmt::format("a factor of {:.2f}{}", factor->factor, spread)
                            : fmt::format("a loss, {:.2f}{} times the speed", factor->factor, spread);
}

double gigabytes(const LadderCase& of) {
  return hbm_bytes(of.result()) / kGiga;
}

double millions(const LadderCase& of, const char* metric) {
  return of.result().metric(metric) / kMega;
}

std::string whole_way(const Told& told, const LadderCase& fa1, const LadderCase& fa2) {
  const double factor = fa1.result().time_us / fa2.result().time_us;
  return fmt::format(
      "{}{}, d {}, {} tokens: FA2 is {:.2f} times as fast as FA1, {:.0f} instead of {:.0f} TFLOP/s, with "
      "tensor "
      "pipes at work for {:.0f} % of the time instead of {:.0f} %.",
      told.gpu.label, told.pass == kernels::Pass::backward ? ", backward" : "", kHeadDim, kSummarySeqlen,
      factor, fa2.result().tflops, fa1.result().tflops, 100 * tensor_share(fa2.result()),
      100 * tensor_share(fa1.result()));
}

std::string split_q(const Told& told, const LadderCase& of) {
  const LadderCase& before = *told.above(of);
  constexpr const char* kWavefronts = "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum";
  constexpr const char* kBarriers = "smsp__inst_executed_op_barrier.sum";
  std::string sentence = fmt::format(
      "Splitting queries between the warps instead of keys takes shared-memory wavefronts from {:.0f} to "
      "{:.0f} "
      "million and barriers from {:.1f} to {:.1f} million; on FA1 alone that brings {}",
      millions(before, kWavefronts), millions(of, kWavefronts), millions(before, kBarriers),
      millions(of, kBarriers), gained(told, of));
  if (const LadderCase* taken = told.find(LadderSeries::taken_from_fa2, "split_q")) {
    sentence += fmt::format(", in FA2, whose outputs stay in registers, {}", gained(told, *taken));
  }
  return sentence + ".";
}

std::string q_stationary(const Told& told, const LadderCase& of) {
  const LadderCase& before = *told.above(of);
  return fmt::format(
      "Letting queries stay while keys pass by keeps the partial outputs in registers: HBM bytes fall from "
      "{:.2f} "
      "to {:.2f} GB, which brings {}.",
      gigabytes(before), gigabytes(of), gained(told, of));
}

std::string non_matmul(const Told& told, const LadderCase& deferred, const LadderCase& masked) {
  const LadderCase& before = *told.above(deferred);
  return fmt::format(
      "Dividing by the row sum once and masking only at the edge take instructions that are no matrix "
      "product "
      "from {:.2f} to {:.2f} per score; they bring {} and {}.",
      non_matmul_per_score(before), non_matmul_per_score(masked), gained(told, deferred),
      gained(told, masked));
}

std::string parallel(const Told& told, const LadderCase& of, const LadderCase& copies,
                     const LadderCase& tile) {
  const LadderCase& before = *told.above(of);
  return fmt::format(
      "A CTA per block of queries ({:.0f} CTAs instead of {:.0f}) brings {}, copies that run ahead bring {}, "
      "and "
      "the larger tile, which the registers hold only now, brings {}.",
      of.result().metric("launch__grid_size"), before.result().metric("launch__grid_size"), gained(told, of),
      gained(told, copies), gained(told, tile));
}

/// The backward pass: what relieves shared memory, and what the other steps bring.
std::string gradients(const Told& told, const LadderCase& whole, const LadderCase& steps,
                      const LadderCase& grid) {
  constexpr const char* kWavefronts = "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum";
  constexpr const char* kBarriers = "smsp__inst_executed_op_barrier.sum";
  const LadderCase& parts = *told.above(whole);
  const LadderCase& short_steps = *told.above(steps);
  return fmt::format(
      "Summing dQ whole in each warp instead of in eight parts takes shared-memory wavefronts from {:.0f} to "
      "{:.0f} million and brings {}. FA2's steps take barriers from {:.1f} to {:.1f} million, other "
      "instructions than matrix products from {:.2f} to {:.2f} per score and HBM bytes from {:.2f} to {:.2f} "
      "GB, and bring {}; the grid of warps takes wavefronts from {:.0f} to {:.0f} million and brings {}.",
      millions(parts, kWavefronts), millions(whole, kWavefronts), gained(told, whole),
      millions(short_steps, kBarriers), millions(steps, kBarriers), non_matmul_per_score(short_steps),
      non_matmul_per_score(steps), gigabytes(short_steps), gigabytes(steps), gained(told, steps),
      millions(steps, kWavefronts), millions(grid, kWavefronts), gained(told, grid));
}

void add_backward(std::vector<std::string>& sentences, const Told& told) {
  const auto step = [&](std::string_view change) { return told.find(LadderSeries::ladder, change); };
  const std::array steps = {told.find(LadderSeries::ladder, "", "fa1"),
                            step("split_q"),
                            step("mask_at_edge"),
                            step("seq_parallel"),
                            step("cp_async"),
                            step("fa2_tile"),
                            step("warp_grid")};
  if (std::ranges::find(steps, nullptr) != steps.end()) {
    return;
  }
  sentences.push_back(whole_way(told, *steps[0], *steps[6]));
  sentences.push_back(gradients(told, *steps[1], *steps[5], *steps[6]));
  sentences.push_back(fmt::format(
      "In the backward pass a mask only where there is one brings {}, a CTA for each block of keys {}, and "
      "copies that run ahead {}.",
      gained(told, *steps[2]), gained(told, *steps[3]), gained(told, *steps[4])));
}

/// Surprises that a reader will stumble over.
std::string slower_than_standard(const Told& told, const LadderCase& fa1) {
  const LadderCase& standard = *told.above(fa1);
  if (!standard.done() || fa1.result().time_us < standard.result().time_us) {
    return "";
  }
  return fmt::format(
      "FA1 is slower than standard attention here: its partial outputs cross HBM in every key block, {:.2f} "
      "GB "
      "against {:.2f} GB, and its 16-row steps keep tensor pipes at work for {:.0f} % of the time.",
      gigabytes(fa1), gigabytes(standard), 100 * tensor_share(fa1.result()));
}

}  // namespace

std::vector<std::string> ladder_sentences(std::span<const LadderCase> cases) {
  std::vector<std::string> sentences;
  for (const GridGpu& gpu : summary_gpus()) {
    const Told told{cases, gpu};
    const auto step = [&](std::string_view change) { return told.find(LadderSeries::ladder, change); };
    const LadderCase* fa1 = told.find(LadderSeries::ladder, "", "fa1");
    const std::array steps = {fa1,
                              step("split_q"),
                              step("q_stationary"),
                              step("deferred"),
                              step("mask_at_edge"),
                              step("seq_parallel"),
                              step("cp_async"),
                              step("fa2_tile")};
    if (std::ranges::find(steps, nullptr) != steps.end()) {
      continue;
    }
    sentences.push_back(whole_way(told, *fa1, *steps[7]));
    sentences.push_back(q_stationary(told, *steps[2]));
    sentences.push_back(split_q(told, *steps[1]));
    sentences.push_back(non_matmul(told, *steps[3], *steps[4]));
    sentences.push_back(parallel(told, *steps[5], *steps[6], *steps[7]));
    if (std::string surprise = slower_than_standard(told, *fa1); !surprise.empty()) {
      sentences.push_back(std::move(surprise));
    }
  }
  for (const GridGpu& gpu : summary_gpus()) {
    add_backward(sentences, {cases, gpu, kernels::Pass::backward});
  }
  return sentences;
}

}  // namespace warpscope::experiments

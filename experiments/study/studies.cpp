#include "experiments/study/studies.hpp"

#include <fmt/format.h>

#include <array>

#include "experiments/base/printable.hpp"
#include "experiments/base/usage_error.hpp"
#include "experiments/study/hbm_traffic.hpp"
#include "experiments/study/non_matmul.hpp"
#include "experiments/study/paper_figures.hpp"
#include "experiments/study/parallelism.hpp"
#include "experiments/study/why_fa2.hpp"

namespace warpscope::experiments {
namespace {

constexpr std::array kStudies = {
    Study{"why-fa2", "standard attention, FlashAttention-1 and -2 on A100, H100 and H200", &run_why_fa2},
    Study{"non-matmul", "what a FLOP costs that no tensor pipe does: pipes and shared memory at other rates",
          &run_non_matmul},
    Study{"parallelism", "FA1 and FA2 with few and many CTAs: batch x heads against sequence length",
          &run_parallelism},
    Study{"hbm-traffic", "bytes across HBM against sequence length and against the capacity of the L2",
          &run_hbm_traffic},
    Study{"paper-figures", "Figures 4 to 7 of the FlashAttention-2 paper: every bar, published and modelled",
          &run_paper_figures},
};

}  // namespace

std::span<const Study> all_studies() {
  return kStudies;
}

const Study& find_study(std::string_view name) {
  std::string legal;
  for (const Study& study : all_studies()) {
    if (study.name == name) {
      return study;
    }
    legal += legal.empty() ? "" : ", ";
    legal += study.name;
  }
  throw UsageError(fmt::format("study {}: unknown; legal are {}", in_quotes(name), legal));
}

}  // namespace warpscope::experiments

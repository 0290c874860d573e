#include "kernels/variants/variant.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <stdexcept>
#include <utility>

#include "kernels/fa1/fa1.hpp"
#include "kernels/fa2/fa2.hpp"
#include "kernels/unsupported.hpp"
#include "kernels/variants/changes.hpp"

namespace warpscope::kernels::variants {
namespace {

[[noreturn]] void refuse(const std::string& reason) {
  throw std::invalid_argument(reason);
}

std::string legal_changes() {
  std::string legal;
  for (const Change& change : all_changes()) {
    legal += legal.empty() ? "" : ", ";
    legal += change.name;
  }
  return legal;
}

AttentionOptions base_options(std::string_view base) {
  if (base == "fa1") {
    return kFa1Options;
  }
  if (base == "fa2") {
    return kFa2Options;
  }
  refuse("the base '" + std::string(base) + "' has no variants; legal are fa1 and fa2");
}

/// "128x64x4": queries, keys and warps.
TileShape read_tile(std::string_view text) {
  TileShape tile;
  const char* at = text.data();
  const char* end = at + text.size();
  for (int* number : {&tile.rows, &tile.keys, &tile.warps}) {
    const bool is_first = number == &tile.rows;
    if (!is_first && (at == end || *at++ != 'x')) {
      at = nullptr;
    }
    const auto read = at == nullptr ? std::from_chars_result{nullptr, std::errc::invalid_argument}
                                    : std::from_chars(at, end, *number);
    if (read.ec != std::errc() || *number < 1 || *number > 1024) {
      refuse("the tile " + std::string(text) + " is not QUERIESxKEYSxWARPS, as in tile=128x64x4");
    }
    at = read.ptr;
  }
  if (at != end) {
    refuse("the tile " + std::string(text) + " is not QUERIESxKEYSxWARPS, as in tile=128x64x4");
  }
  return tile;
}

/// What choices of the backward pass need of one another, and of the problem.
void check_backward(const AttentionOptions& options, const Problem& problem) {
  struct Rule {
    bool broken;
    const char* reason;
  };
  const std::array rules = {
      Rule{!options.lse, "reads the log-sum-exp of the forward pass, so it needs lse"},
      Rule{!options.skip_masked, "has no form without skip_masked"},
      Rule{options.tile.is_given(), "has no tiles of one's own"},
      Rule{options.warp_grid && !options.fa2_tile,
           "needs fa2_tile for warp_grid: shorter steps have too few queries for a grid of warps"},
      Rule{options.fa2_tile && !options.split_q,
           "needs split_q for fa2_tile: parts of dQ of so many queries exceed the registers of a warp"},
      Rule{options.fa2_tile && !options.seq_parallel,
           "needs seq_parallel for fa2_tile: FlashAttention-2 has no kernel with a CTA per head"},
  };
  for (const Rule& rule : rules) {
    if (rule.broken) {
      throw UnsupportedProblem(std::string("the backward pass of a variant ") + rule.reason);
    }
  }
  constexpr std::int64_t kQueries = 128;  // the forward pass of any variant leaves whole steps behind
  if (problem.seqlen_q % kQueries != 0) {
    throw UnsupportedProblem("the backward pass of a variant needs seqlen_q to be a multiple of 128, got " +
                             std::to_string(problem.seqlen_q));
  }
}

void apply(AttentionOptions& options, std::string_view word, bool wanted) {
  constexpr std::string_view kTile = "tile=";
  if (wanted && word.starts_with(kTile)) {
    options.tile = read_tile(word.substr(kTile.size()));
    return;
  }
  const auto found = std::ranges::find(all_changes(), word, &Change::name);
  if (found == all_changes().end()) {
    refuse("unknown change '" + std::string(word) + "'; legal are " + legal_changes() +
           " and a tile as in tile=128x64x4");
  }
  if (options.*found->option == wanted) {
    refuse(std::string(word) + (wanted ? " is there already" : " is not there to be taken away"));
  }
  options.*found->option = wanted;
}

}  // namespace

AttentionOptions read_options(std::string_view name) {
  constexpr std::string_view kSigns = "+-";
  std::size_t sign = std::min(name.find_first_of(kSigns), name.size());
  AttentionOptions options = base_options(name.substr(0, sign));
  while (sign < name.size()) {
    const std::size_t end = std::min(name.find_first_of(kSigns, sign + 1), name.size());
    apply(options, name.substr(sign + 1, end - sign - 1), name[sign] == '+');
    sign = end;
  }
  return options;
}

Kernel variant(const AttentionOptions& options, std::string name) {
  const auto plan = [options](const Problem& problem, const GpuLimits& limits) {
    if (options.tile.is_given() && !(options.q_stationary && options.split_q)) {
      throw UnsupportedProblem(
          "a tile of one's own needs q_stationary and split_q; others have the tiles of FA1");
    }
    if (problem.pass == Pass::backward) {
      check_backward(options, problem);
    }
    const bool has_loops_of_fa2 = problem.pass == Pass::backward ? options.fa2_tile : options.q_stationary;
    return has_loops_of_fa2 ? plan_fa2(problem, limits, options) : plan_fa1(problem, limits, options);
  };
  Kernel kernel{std::move(name), "between FlashAttention-1 and FlashAttention-2", plan};
  kernel.passes = {Pass::forward, Pass::backward};
  kernel.source_build = "none of its own: figures of the builds of fa1 and fa2";
  return kernel;
}

Kernel find_variant(std::string_view name) {
  return variant(read_options(name), std::string(name));
}

}  // namespace warpscope::kernels::variants

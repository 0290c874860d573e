#include "experiments/commands/problem_flags.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>

#include "experiments/base/printable.hpp"
#include "experiments/base/usage_error.hpp"
#include "model/base/nearest_name.hpp"
#include "model/hw/config_loader.hpp"

namespace warpscope::experiments {
namespace {

struct Flag {
  std::string_view field;
  const char* name;
  const char* type;
  const char* help;
  bool has_commas = false;  ///< one value, not a list of several

  std::string_view word() const { return std::string_view(name).substr(2); }
  bool is_integer() const { return std::string_view(type) == "N"; }
};

constexpr std::array kFlags = {
    Flag{"kernel", "--kernel", "NAME", "kernel, see `list kernels`"},
    Flag{"variant", "--variant", "NAME", "a kernel with changes, e.g. fa1+split_q, see `list variants`"},
    Flag{"pass", "--pass", "PASS", "fwd (default), bwd or fwd+bwd"},
    Flag{"batch", "--batch", "N", "sequences"},
    Flag{"heads", "--heads", "N", "query heads"},
    Flag{"heads_kv", "--heads-kv", "N", "key and value heads, a divisor of --heads (default: --heads)"},
    Flag{"seqlen_q", "--seqlen", "N", "queries per sequence"},
    Flag{"seqlen_k", "--seqlen-k", "N", "keys per sequence (default: --seqlen)"},
    Flag{"head_dim", "--head-dim", "N", "head dimension"},
    Flag{"num_splits", "--num-splits", "N|auto",
         "parts of the keys that CTAs share (default: 1); auto: as FlashAttention-2's library chooses"},
    Flag{"window", "--window", "L[,R]",
         "keys that a query sees to its left and right (default: as to its left); -1: all", true},
    Flag{"softcap", "--softcap", "X", "scores become X tanh(score / X)"},
    Flag{"seqlens", "--seqlens", "N,N,...",
         "sequences of their own lengths, one behind the other in memory; in place of --batch and --seqlen",
         true},
    Flag{"dropout", "--dropout", "P", "each weight becomes 0 with this probability"},
    Flag{"page_size", "--page-size", "N", "keys per page of a paged KV cache, a multiple of 256"},
    Flag{"rows", "--rows", "N", "rows of a kernel over matrices"},
    Flag{"cols", "--cols", "N", "its columns"},
    Flag{"depth", "--depth", "N", "of a product: rows x depth by depth x cols"},
    Flag{"dtype", "--dtype", "TYPE", "fp16 (default) or bf16"},
};
/// Fields that --scan can vary and that no flag in kFlags names.
constexpr std::array<std::string_view, 6> kOtherFields = {"causal",      "alibi", "deterministic",
                                                          "heads_first", "gpu",   "l2"};

/// The field that a word of --scan means: head-dim and head_dim are the same.
std::string field_of(const std::string& word) {
  std::string with_hyphens = word;
  std::ranges::replace(with_hyphens, '_', '-');
  std::vector<std::string_view> legal(kOtherFields.begin(), kOtherFields.end());
  for (const Flag& flag : kFlags) {
    if (flag.word() == with_hyphens || flag.field == word) {
      return std::string(flag.field);
    }
    legal.push_back(flag.word());
  }
  if (std::ranges::find(kOtherFields, word) != kOtherFields.end()) {
    return word;
  }
  const std::string_view nearest = base::nearest_name(with_hyphens, legal, std::identity());
  throw UsageError(
      fmt::format("--scan {}: unknown, nearest is {}; legal are keys of the GPU, as sm.xu.lanes, and {}",
                  in_quotes(word), nearest, fmt::join(legal, ", ")));
}

}  // namespace

void ModelFlags::add_to(CLI::App& app) {
  app.add_option("--gpu", gpu_, "GPU, see `list gpus`, or a .toml file")->type_name("NAME");
  app.add_option("--set", overrides_, "change a key of the GPU, e.g. sm.xu.lanes=32; may be repeated")
      ->type_name("KEY=VALUE")
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all();
  app.add_option("--mode", mode_, "fast (default) or detailed: step every warp instruction")
      ->type_name("MODE");
  app.add_option("--l2", l2_, "cold (default) or warm: keep the L2 between launches")->type_name("STATE");
}

ModelChoice ModelFlags::read() const {
  ModelChoice choice;
  choice.gpu = gpu_;
  choice.overrides = overrides_;
  choice.options.mode = read_mode("--mode", mode_);
  choice.options.warm_l2 = read_warm_l2("--l2", l2_);
  return choice;
}

void ModelFlags::require_gpu() const {
  if (gpu_.empty()) {
    throw UsageError("--gpu is missing; `warpscope list gpus` shows the names");
  }
}

std::vector<NamedFile> ModelFlags::files() const {
  std::vector<NamedFile> files;
  if (!gpu_.empty()) {
    for (const std::filesystem::path& file : hw::load(gpu_, overrides_, config_directory()).files) {
      files.push_back({"--gpu", file});
    }
  }
  return files;
}

void ProblemFlags::add_to(CLI::App& app) {
  for (const Flag& flag : kFlags) {
    app.add_option(flag.name, values_[std::string(flag.field)], flag.help)->type_name(flag.type);
  }
  app.add_flag("--causal,!--no-causal", causal_, "mask keys after the query, aligned to the bottom right");
  app.add_flag("--alibi", alibi_, "add ALiBi: a slope for each head times the distance of key and query");
  app.add_flag("--deterministic", deterministic_,
               "backward pass: add up dQ in an order that is always the same");
  app.add_flag("--heads-first", heads_first_,
               "tensors are (batch, heads, tokens, head dimension), not (batch, tokens, heads, ...)");
}

Point ProblemFlags::read(const ModelChoice& model, const FieldText& instead) const {
  const auto field_text = [&](std::string_view field) -> std::optional<std::string> {
    if (std::optional<std::string> other = instead ? instead(field) : std::nullopt) {
      return other;
    }
    const auto value = values_.find(field);
    if (value != values_.end() && !value->second.empty()) {
      return value->second;
    }
    const bool set = (field == "causal" && causal_) || (field == "alibi" && alibi_) ||
                     (field == "deterministic" && deterministic_) || (field == "heads_first" && heads_first_);
    return set               ? std::optional<std::string>("1")
           : field == "pass" ? std::optional<std::string>("fwd")
                             : std::nullopt;
  };
  const auto field_name = [](std::string_view field) {
    for (const Flag& flag : kFlags) {
      if (flag.field == field) {
        return std::string(flag.name);
      }
    }
    std::string name = "--" + std::string(field);
    std::ranges::replace(name, '_', '-');
    return name;
  };
  return read_point(field_text, field_name, model);
}

std::vector<ScanAxis> ProblemFlags::axes() const {
  std::vector<ScanAxis> axes;
  for (const Flag& flag : kFlags) {
    const std::string& value = values_.at(std::string(flag.field));
    if (!flag.has_commas && is_list_or_range(value)) {
      axes.push_back({std::string(flag.field), std::string(flag.word()),
                      expand_values(flag.name, value, flag.is_integer())});
    }
  }
  return axes;
}

ScanAxis ProblemFlags::read_axis(const std::string& scan) const {
  const std::size_t equals = scan.find('=');
  if (equals == 0 || equals == std::string::npos) {
    throw UsageError(fmt::format("--scan {}: legal is KEY=VALUES, as in heads=1,2,4", in_quotes(scan)));
  }
  const std::string word = scan.substr(0, equals);
  const bool is_gpu_key = word.find('.') != std::string::npos;
  ScanAxis axis{is_gpu_key ? word : field_of(word), word, {}};
  bool only_integers = false;
  for (const Flag& flag : kFlags) {
    if (flag.field == axis.field) {
      axis.name = flag.word();
      only_integers = flag.is_integer();
      if (!values_.at(axis.field).empty()) {
        throw UsageError(fmt::format("--scan {}: {} has a value already", word, flag.name));
      }
    }
  }
  axis.values = expand_values("--scan " + word + '=', scan.substr(equals + 1), only_integers);
  return axis;
}

std::string ProblemFlags::first_given() const {
  for (const Flag& flag : kFlags) {
    if (!values_.at(std::string(flag.field)).empty()) {
      return flag.name;
    }
  }
  return causal_          ? "--causal"
         : alibi_         ? "--alibi"
         : deterministic_ ? "--deterministic"
         : heads_first_   ? "--heads-first"
                          : "";
}

}  // namespace warpscope::experiments

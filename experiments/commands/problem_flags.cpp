#include "experiments/commands/problem_flags.hpp"

#include <array>
#include <optional>

#include "experiments/base/usage_error.hpp"
#include "experiments/point/point_reader.hpp"
#include "model/hw/config_loader.hpp"

namespace warpscope::experiments {
namespace {

struct Flag {
  std::string_view field;
  const char* name;
  const char* type;
  const char* help;
};

constexpr std::array kFlags = {
    Flag{"kernel", "--kernel", "NAME", "kernel, see `list kernels`"},
    Flag{"variant", "--variant", "NAME", "a kernel with changes, e.g. fa1+split_q, see `list variants`"},
    Flag{"pass", "--pass", "PASS", "fwd (default)"},
    Flag{"batch", "--batch", "N", "sequences"},
    Flag{"heads", "--heads", "N", "query heads"},
    Flag{"heads_kv", "--heads-kv", "N", "key and value heads, a divisor of --heads (default: --heads)"},
    Flag{"seqlen_q", "--seqlen", "N", "queries per sequence"},
    Flag{"seqlen_k", "--seqlen-k", "N", "keys per sequence (default: --seqlen)"},
    Flag{"head_dim", "--head-dim", "N", "head dimension"},
    Flag{"dtype", "--dtype", "TYPE", "fp16 (default) or bf16"},
};

}  // namespace

void ModelFlags::add_to(CLI::App& app) {
  app.add_option("--gpu", gpu_, "GPU, see `list gpus`, or a .toml file")->type_name("NAME");
  app.add_option("--set", overrides_, "change a key of the GPU, e.g. sm.xu.lanes=32; may be repeated")
      ->type_name("KEY=VALUE")
      ->expected(1)
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
}

Point ProblemFlags::read(const ModelChoice& model) const {
  const auto field_text = [&](std::string_view field) -> std::optional<std::string> {
    const auto value = values_.find(field);
    if (value != values_.end() && !value->second.empty()) {
      return value->second;
    }
    return field == "causal" ? std::optional<std::string>(causal_ ? "1" : "0")
           : field == "pass" ? std::optional<std::string>("fwd")
                             : std::nullopt;
  };
  const auto field_name = [](std::string_view field) {
    for (const Flag& flag : kFlags) {
      if (flag.field == field) {
        return std::string(flag.name);
      }
    }
    return "--" + std::string(field);
  };
  return read_point(field_text, field_name, model);
}

std::string ProblemFlags::first_given() const {
  for (const Flag& flag : kFlags) {
    if (!values_.at(std::string(flag.field)).empty()) {
      return flag.name;
    }
  }
  return causal_ ? "--causal" : "";
}

}  // namespace warpscope::experiments

// `warpscope list`: the names that other verbs accept.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>

#include "experiments/base/output.hpp"
#include "experiments/base/text_table.hpp"
#include "experiments/commands/command.hpp"
#include "experiments/commands/kernel_list.hpp"
#include "experiments/point/point.hpp"
#include "experiments/study/studies.hpp"
#include "kernels/variants/changes.hpp"
#include "model/hw/config_loader.hpp"

namespace warpscope::experiments {
namespace {

using Align = TextTable::Align;

Status list_gpus() {
  TextTable table({{"name", Align::left}, {"GPU", Align::left}, {"SMs"}, {"memory GiB"}, {"HBM GB/s"}});
  for (const std::string& name : hw::list_configs(config_directory())) {
    const hw::HwConfig config = hw::load(name, {}, config_directory()).config;
    constexpr double kGiB = 1024.0 * 1024 * 1024;
    table.add_row({name, config.gpu.name, std::to_string(config.gpu.sm_count),
                   fmt::format("{:.0f}", static_cast<double>(config.gpu.memory_bytes) / kGiB),
                   fmt::format("{:.0f}", config.hbm.peak_gb_per_s)});
  }
  print_output(table.text(""));
  return Status::done;
}

struct KernelFlags {
  std::string name;
  std::string gpu = "h200-sxm-141gb";
  bool json = false;
};

Status list_kernels(const KernelFlags& flags) {
  print_output(flags.json           ? kernels_json(flags.name, flags.gpu).dump(2) + '\n'
               : flags.name.empty() ? kernels_text(flags.gpu)
                                    : kernel_text(flags.name, flags.gpu));
  return Status::done;
}

Status list_variants() {
  TextTable table({{"change", Align::left},
                   {"fa1", Align::left},
                   {"fa2", Align::left},
                   {"forward", Align::left},
                   {"backward", Align::left}});
  const auto has = [](bool taken) { return taken ? "has it" : "-"; };
  for (const kernels::variants::Change& change : kernels::variants::all_changes()) {
    table.add_row({std::string(change.name), has(kernels::kFa1Options.*change.option),
                   has(kernels::kFa2Options.*change.option), std::string(change.forward.title),
                   std::string(change.backward.title)});
  }
  print_output(table.text("") +
               "\nAdd changes to fa1 or fa2 and take them away, in any order:\n"
               "  --variant fa1+split_q+q_stationary   --variant fa2-cp_async\n"
               "  --variant fa1+split_q+mask_at_edge --pass bwd\n"
               "FA2's forward pass takes a tile of queries x keys x warps: --variant fa2+tile=64x64x4\n"
               "`warpscope explain CHANGE` says what one does.\n");
  return Status::done;
}

Status list_studies() {
  TextTable table({{"name", Align::left}, {"study", Align::left}});
  for (const Study& study : all_studies()) {
    table.add_row({std::string(study.name), std::string(study.description)});
  }
  print_output(table.text(""));
  return Status::done;
}

}  // namespace

void add_list_command(CLI::App& app, Action& action) {
  CLI::App* verb = app.add_subcommand("list", "List GPUs, kernels, their variants or studies");
  verb->require_subcommand(1);
  const auto add = [&](const char* what, Status (*list)()) {
    verb->add_subcommand(what, fmt::format("List {}", what))->callback([list, &action] { action = list; });
  };
  add("gpus", list_gpus);
  CLI::App* kernels = verb->add_subcommand("kernels", "List kernels");
  const auto flags = std::make_shared<KernelFlags>();
  kernels->add_option("NAME", flags->name, "all of one kernel or variant");
  kernels->add_option("--gpu", flags->gpu, "GPU that they are compiled for (default: h200-sxm-141gb)")
      ->type_name("NAME");
  kernels->add_flag("--json", flags->json, "print JSON");
  kernels->callback([flags, &action] { action = [flags] { return list_kernels(*flags); }; });
  add("variants", list_variants);
  add("studies", list_studies);
}

}  // namespace warpscope::experiments

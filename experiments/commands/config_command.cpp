// `warpscope config`: look at the description of a GPU.
#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "experiments/base/output.hpp"
#include "experiments/base/text_table.hpp"
#include "experiments/commands/command.hpp"
#include "experiments/point/point.hpp"
#include "model/hw/config_loader.hpp"

namespace warpscope::experiments {
namespace {

using Align = TextTable::Align;

struct ConfigFlags {
  std::string name;
  std::vector<std::string> overrides;
};

Status show(const ConfigFlags& flags) {
  const hw::LoadedConfig loaded = hw::load(flags.name, flags.overrides, config_directory());
  TextTable table({{"key", Align::left},
                   {"value"},
                   {"unit", Align::left},
                   {"from", Align::left},
                   {"meaning", Align::left}});
  for (const hw::ConfigRow& row : loaded.rows) {
    table.add_row(
        {std::string(row.key), row.value, std::string(row.unit), row.origin, std::string(row.meaning)});
  }
  print_output(table.text(""));
  return Status::done;
}

Status check(const ConfigFlags& flags) {
  const std::vector<std::string> problems = hw::check(flags.name, config_directory());
  for (const std::string& problem : problems) {
    print_error(problem);
  }
  if (!problems.empty()) {
    return Status::usage;
  }
  print_output(fmt::format("{}: fine\n", flags.name));
  return Status::done;
}

}  // namespace

void add_config_command(CLI::App& app, Action& action) {
  CLI::App* verb = app.add_subcommand("config", "Show or check the description of a GPU");
  verb->require_subcommand(1);
  const auto flags = std::make_shared<ConfigFlags>();

  CLI::App* shown = verb->add_subcommand("show", "Print every key with its value and where it comes from");
  shown->add_option("NAME", flags->name, "GPU, see `list gpus`, or a .toml file")->required();
  shown->add_option("--set", flags->overrides, "change a key, e.g. sm.xu.lanes=32; may be repeated")
      ->type_name("KEY=VALUE")
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all();
  shown->callback([flags, &action] { action = [flags] { return show(*flags); }; });

  CLI::App* checked = verb->add_subcommand("check", "Report every mistake in a description");
  checked->add_option("FILE", flags->name, "a .toml file, or a GPU's name")->required();
  checked->callback([flags, &action] { action = [flags] { return check(*flags); }; });
}

}  // namespace warpscope::experiments

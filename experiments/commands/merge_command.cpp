// `warpscope merge`: the shards of a sweep as one output.
#include <fmt/format.h>

#include <memory>

#include "experiments/base/output.hpp"
#include "experiments/commands/command.hpp"
#include "experiments/commands/sweep_flags.hpp"
#include "experiments/sweep/merge.hpp"

namespace warpscope::experiments {
namespace {

struct Flags {
  SweepFlags sweep;
  std::vector<std::string> stores;
};

Status merge_command(const Flags& flags) {
  PointSimulator simulator;
  const MergeSummary merged = merge_stores(
      {flags.sweep.points, flags.sweep.outputs, flags.stores, flags.sweep.model.read()}, simulator);
  if (!merged.overlap.empty()) {
    print_error(merged.overlap);
  }
  return report_failures(merged.sweep,
                         fmt::format("column model_error of {} says why", flags.sweep.outputs.csv));
}

}  // namespace

void add_merge_command(CLI::App& app, Action& action) {
  CLI::App* verb = app.add_subcommand("merge", "Put the stores of `sweep --shard` together to one output");
  const auto flags = std::make_shared<Flags>();
  flags->sweep.add_to(*verb);
  verb->add_option("STORE", flags->stores, "stores of all shards")->required();
  verb->callback([flags, &action] { action = [flags] { return merge_command(*flags); }; });
}

}  // namespace warpscope::experiments

// `warpscope compare`: two runs side by side.
#include <memory>

#include "experiments/base/files.hpp"
#include "experiments/base/output.hpp"
#include "experiments/base/usage_error.hpp"
#include "experiments/commands/command.hpp"
#include "experiments/commands/file_flag.hpp"
#include "experiments/commands/problem_flags.hpp"
#include "experiments/commands/worker_flags.hpp"
#include "experiments/page/compare_page.hpp"
#include "experiments/whatif/compare.hpp"
#include "experiments/workers/worker_pool.hpp"

namespace warpscope::experiments {
namespace {

struct CompareFlags {
  ModelFlags model;
  ProblemFlags problem;
  WorkerFlags workers;
  std::string json;
  std::string report;
  std::string require;
  std::vector<std::string> changes;  ///< the words behind --
};

/// Side B: the flags of side A with those behind -- on top.
Point changed(const CompareFlags& flags) {
  ModelFlags model = flags.model;
  ProblemFlags problem = flags.problem;
  CLI::App side("the changes behind --", "compare");
  model.add_to(side);
  problem.add_to(side);
  model.begin_changes();
  // CLI11 takes words from the back.
  std::vector<std::string> words(flags.changes.rbegin(), flags.changes.rend());
  side.parse(words);
  model.end_changes(flags.model);
  return problem.read(model.read());
}

bool meets(const std::string& requirement, const Difference& time) {
  return requirement.empty() || (requirement == "same" && !time.is_certain()) ||
         (requirement == "faster" && time.is_certain() && time.share < 0) ||
         (requirement == "slower" && time.is_certain() && time.share > 0);
}

Status compare_command(const CompareFlags& flags) {
  flags.model.require_gpu();
  if (flags.changes.empty()) {
    throw UsageError(
        "compare: nothing is changed; write -- and then what is different on side B, as in "
        "`-- --set sm.xu.lanes=32`");
  }
  const std::array outputs = {NamedFile{"--json", flags.json}, NamedFile{"--report", flags.report}};
  check_apart(flags.model.files(), outputs);
  for (const NamedFile& output : outputs) {
    if (names_file(output.path)) {
      check_writable(output.path);
    }
  }
  const Comparison comparison =
      compare(flags.problem.read(flags.model.read()), changed(flags), flags.workers.read(default_workers()));
  const std::string json = compare_json(comparison).dump(2) + '\n';
  if (names_file(flags.json)) {
    write_file(flags.json, json);
  }
  const std::string report = compare_text(comparison);
  if (names_file(flags.report)) {
    write_file(flags.report, names_page(flags.report) ? html(compare_page(comparison)) : report);
  }
  print_output(flags.json == "-" ? json : report);
  return meets(flags.require, comparison.time) ? Status::done : Status::check_failed;
}

}  // namespace

void add_compare_command(CLI::App& app, Action& action) {
  CLI::App* verb =
      app.add_subcommand("compare", "Run a kernel as it is (A) and with changes (B): what differs?");
  const auto flags = std::make_shared<CompareFlags>();
  flags->problem.add_to(*verb);
  flags->model.add_to(*verb);
  flags->workers.add_to(*verb);
  add_file_flag(*verb, "--json", flags->json,
                "write JSON to FILE too; -: to standard output, in place of the text");
  add_file_flag(*verb, "--report", flags->report, "write the text to FILE too, to FILE.html as a page");
  verb->add_option("--require", flags->require,
                   "exit with status 1 unless side B is that: faster, slower, same")
      ->type_name("WORD")
      ->check(CLI::IsMember({"faster", "slower", "same"}));
  verb->add_option("CHANGES", flags->changes, "behind --: flags that are different on side B");
  verb->callback([flags, &action] { action = [flags] { return compare_command(*flags); }; });
}

}  // namespace warpscope::experiments

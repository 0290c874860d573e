// `warpscope study`: a ready-made experiment with its report and plots.
#include <memory>

#include "experiments/base/files.hpp"
#include "experiments/commands/command.hpp"
#include "experiments/commands/file_flag.hpp"
#include "experiments/commands/worker_flags.hpp"
#include "experiments/study/studies.hpp"
#include "experiments/workers/worker_pool.hpp"

namespace warpscope::experiments {
namespace {

struct StudyFlags {
  std::string name;
  StudyOptions options;
  WorkerFlags workers;
};

Status study_command(StudyFlags& flags) {
  const Study& study = find_study(flags.name);
  flags.options.workers = flags.workers.read(default_workers());
  if (flags.options.directory.empty()) {
    flags.options.directory = "out/" + flags.name;
  }
  if (!flags.options.report.empty()) {
    check_writable(flags.options.report);
  }
  study.run(flags.options);
  return Status::done;
}

}  // namespace

void add_study_command(CLI::App& app, Action& action) {
  CLI::App* verb = app.add_subcommand("study", "Run a study and write its report and plots");
  const auto flags = std::make_shared<StudyFlags>();
  verb->add_option("NAME", flags->name, "study, see `list studies`")->required();
  add_file_flag(*verb, "-o,--output", flags->options.directory, "directory to write to (default: out/NAME)")
      ->type_name("DIR");
  add_file_flag(*verb, "--report", flags->options.report,
                "write the report to FILE too, to FILE.html as a page");
  flags->workers.add_to(*verb);
  verb->add_flag("--resume", flags->options.resume, "go on with an interrupted run into the same directory");
  verb->callback([flags, &action] { action = [flags] { return study_command(*flags); }; });
}

}  // namespace warpscope::experiments

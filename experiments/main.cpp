// The program: reads the command line, runs one verb, turns errors into lines and exit statuses.
#include <fmt/format.h>

#include <csignal>
#include <exception>
#include <new>
#include <sstream>
#include <string>

#include "experiments/base/interruption.hpp"
#include "experiments/base/output.hpp"
#include "experiments/commands/command.hpp"
#include "experiments/commands/command_words.hpp"
#include "experiments/commands/verb_text.hpp"
#include "experiments/mpi/launcher.hpp"
#include "experiments/store/model_version.hpp"

namespace {

using namespace warpscope::experiments;

void add_commands(CLI::App& app, Action& action) {
  app.set_version_flag("--version", [] {
    return fmt::format("warpscope {}\nmodel {}\nMPI {}", WARPSCOPE_VERSION, model_version(),
                       has_mpi() ? "built in" : "not built in (needs libopenmpi-dev, libboost-mpi-dev)");
  });
  app.require_subcommand(1);
  app.formatter_fn([](const CLI::App* verb, const std::string& path, CLI::AppFormatMode) {
    VerbText text = verb_text(*verb);
    text.path = path;
    return help_text(text);
  });
  app.footer(
      "`warpscope VERB --help` explains a verb. Exit status: 0 done, 1 a check failed, 2 usage or "
      "configuration error, 3 some points of a sweep or scan failed.\n"
      "For developers, by ./warpscope of the source tree: test, bench, fuzz, format, tidy.");
  add_run_command(app, action);
  add_compare_command(app, action);
  add_hotspots_command(app, action);
  add_sweep_command(app, action);
  add_merge_command(app, action);
  add_study_command(app, action);
  add_plot_command(app, action);
  add_check_numbers_command(app, action);
  add_validate_command(app, action);
  add_explain_command(app, action);
  add_list_command(app, action);
  add_trace_command(app, action);
  add_config_command(app, action);
  add_manual_commands(app, action);
}

/// --help and --version.
Status print_help(const CLI::App& app, const CLI::ParseError& request) {
  std::ostringstream text;
  app.exit(request, text);
  print_output(text.str());
  return Status::done;
}

int run(int argc, char** argv) {
  CLI::App app("warpscope: a cycle-approximate model of NVIDIA GPUs that runs attention kernels",
               "warpscope");
  Action action;
  add_commands(app, action);
  check_words(app, argc, argv);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {
      return static_cast<int>(print_help(app, error));
    }
    throw;
  }
  return static_cast<int>(action());
}

}  // namespace

// The SystemC library has a main of its own that calls sc_main. The one here wins; the stub satisfies the
// linker.
extern "C" int sc_main(int /*argc*/, char** /*argv*/) {
  return 0;
}

int main(int argc, char** argv) {
  // A limit on the size of files is an error of the write that meets it, with a message.
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    return run(argc, argv);
  } catch (const Interrupted& interrupted) {
    print_error(interrupted.what());
    end_by_signal(interrupted.signal());
  } catch (const std::bad_alloc&) {
    print_error("out of memory");
  } catch (const std::exception& error) {
    print_error(error.what());
  }
  return static_cast<int>(Status::usage);
}

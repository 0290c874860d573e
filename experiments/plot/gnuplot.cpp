#include "experiments/plot/gnuplot.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "experiments/base/usage_error.hpp"
#include "experiments/plot/bar_chart.hpp"

namespace warpscope::experiments {
namespace {

constexpr const char* kMissing = "gnuplot is missing; on Debian: apt-get install gnuplot-nox";

/// Exit status of `gnuplot argument` run in `directory`, standard output discarded.
int gnuplot_status(const std::string& argument, const std::string& directory) {
  std::string program = "gnuplot";
  std::string text = argument;
  std::array<char*, 3> arguments = {program.data(), text.data(), nullptr};
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addchdir_np(&actions, directory.c_str());
  ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t process = 0;
  const int error = ::posix_spawnp(&process, program.c_str(), &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error == ENOENT) {
    throw UsageError(kMissing);
  }
  if (error != 0) {
    throw UsageError(fmt::format("gnuplot: {}", std::generic_category().message(error)));
  }
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

void require_gnuplot() {
  if (gnuplot_status("--version", "/") != 0) {
    throw UsageError(kMissing);
  }
}

void run_gnuplot(const std::string& script) {
  const std::filesystem::path path(script);
  const std::string directory = path.has_parent_path() ? path.parent_path().string() : ".";
  if (gnuplot_status(path.filename().string(), directory) != 0) {
    throw UsageError(fmt::format("{}: gnuplot could not draw it", script));
  }
}

}  // namespace warpscope::experiments

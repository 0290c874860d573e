#include "tests/cli/program.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace warpscope::cli_test {

ProgramResult run_program(const Arguments& arguments, const std::filesystem::path& directory,
                          const std::vector<std::string>& environment) {
  const TemporaryDirectory streams;
  const std::string out = streams / "out";
  const std::string err = streams / "err";
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, out.c_str(), O_WRONLY | O_CREAT, 0600);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, err.c_str(), O_WRONLY | O_CREAT, 0600);
  ::posix_spawn_file_actions_addchdir_np(&actions, directory.c_str());

  Arguments words = arguments;
  words.insert(words.begin(), WARPSCOPE_PROGRAM);
  std::vector<std::string> variables = environment;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    variables.emplace_back(*variable);
  }
  const auto pointers = [](std::vector<std::string>& strings) {
    std::vector<char*> result;
    std::ranges::transform(strings, std::back_inserter(result),
                           [](std::string& text) { return text.data(); });
    result.push_back(nullptr);
    return result;
  };
  pid_t process = 0;
  const int error = ::posix_spawn(&process, WARPSCOPE_PROGRAM, &actions, nullptr, pointers(words).data(),
                                  pointers(variables).data());
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    throw std::runtime_error(std::string("cannot run ") + WARPSCOPE_PROGRAM);
  }
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, file_text(out), file_text(err)};
}

std::string file_text(const std::filesystem::path& path) {
  std::ifstream input(path, std::ios::binary);
  std::ostringstream text;
  text << input.rdbuf();
  return std::move(text).str();
}

void write_text(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

TemporaryDirectory::TemporaryDirectory() {
  std::string name = std::filesystem::temp_directory_path() / "warpscope-test-XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) {
    throw std::runtime_error("cannot create " + name);
  }
  path_ = name;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code error;
  std::filesystem::remove_all(path_, error);
}

std::vector<std::string> TemporaryDirectory::files() const {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(path_)) {
    names.push_back(entry.path().filename().string());
  }
  std::ranges::sort(names);
  return names;
}

Arguments small_run(const std::string& kernel, const Arguments& more) {
  Arguments arguments = {"run",     "--gpu", "h200-sxm-141gb", "--kernel", kernel,       "--batch", "1",
                         "--heads", "2",     "--seqlen",       "256",      "--head-dim", "64"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

}  // namespace warpscope::cli_test

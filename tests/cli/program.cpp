#include "tests/cli/program.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

namespace warpscope::cli_test {

namespace {

std::filesystem::path new_directory() {
  std::string name = std::filesystem::temp_directory_path() / "warpscope-test-XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) {
    throw std::runtime_error("cannot create " + name);
  }
  return name;
}

}  // namespace

RunningProgram::RunningProgram(const Arguments& words, const std::filesystem::path& directory,
                               const std::vector<std::string>& environment)
    : streams_(new_directory()) {
  const std::string out = streams_ / "out";
  const std::string err = streams_ / "err";
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, out.c_str(), O_WRONLY | O_CREAT, 0600);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, err.c_str(), O_WRONLY | O_CREAT, 0600);
  ::posix_spawn_file_actions_addchdir_np(&actions, directory.c_str());

  Arguments copy = words;
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
  const int error = ::posix_spawnp(&process_, copy.front().c_str(), &actions, nullptr, pointers(copy).data(),
                                   pointers(variables).data());
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    throw std::runtime_error("cannot run " + words.front());
  }
}

RunningProgram::~RunningProgram() {
  if (!ended_) {
    ::kill(process_, SIGKILL);
    wait();
  }
  std::error_code error;
  std::filesystem::remove_all(streams_, error);
}

std::vector<pid_t> RunningProgram::children() const {
  const std::string id = std::to_string(process_);
  std::istringstream list(file_text("/proc/" + id + "/task/" + id + "/children"));
  return {std::istream_iterator<pid_t>(list), std::istream_iterator<pid_t>()};
}

bool RunningProgram::has_ended() {
  int status = 0;
  if (!ended_ && ::waitpid(process_, &status, WNOHANG) == process_) {
    end(status);
  }
  return ended_;
}

ProgramResult RunningProgram::wait() {
  int status = 0;
  while (!ended_) {
    if (::waitpid(process_, &status, 0) == process_) {
      end(status);
    }
  }
  return {status_, file_text(streams_ / "out"), file_text(streams_ / "err")};
}

void RunningProgram::end(int status) {
  ended_ = true;
  status_ = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

ProgramResult run(const Arguments& words, const std::filesystem::path& directory,
                  const std::vector<std::string>& environment) {
  return RunningProgram(words, directory, environment).wait();
}

ProgramResult run_program(const Arguments& arguments, const std::filesystem::path& directory,
                          const std::vector<std::string>& environment) {
  return run(warpscope(arguments), directory, environment);
}

Arguments warpscope(const Arguments& arguments) {
  Arguments words = arguments;
  words.insert(words.begin(), WARPSCOPE_PROGRAM);
  return words;
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

std::vector<std::string> lines(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> result;
  for (std::string line; std::getline(stream, line);) {
    result.push_back(line);
  }
  return result;
}

TemporaryDirectory::TemporaryDirectory() : path_(new_directory()) {}

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

std::size_t widest_line(const std::string& text) {
  std::size_t widest = 0;
  std::size_t width = 0;
  for (const char symbol : text) {
    // Bytes 10xxxxxx continue a code point.
    width = symbol == '\n' ? 0 : width + ((static_cast<unsigned char>(symbol) & 0xc0) != 0x80 ? 1 : 0);
    widest = std::max(widest, width);
  }
  return widest;
}

Arguments small_run(const std::string& kernel, const Arguments& more) {
  Arguments arguments = {"run",     "--gpu", "h200-sxm-141gb", "--kernel", kernel,       "--batch", "1",
                         "--heads", "2",     "--seqlen",       "256",      "--head-dim", "64"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

}  // namespace warpscope::cli_test

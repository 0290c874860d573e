// Runs the built program the way a user does.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

namespace warpscope::cli_test {

struct ProgramResult {
  int status = -1;
  std::string out;
  std::string err;
};

using Arguments = std::vector<std::string>;

/// A program that runs beside the test.
class RunningProgram {
 public:
  /// Starts `words`, program and arguments, in `directory`; `environment` entries ("NAME=value") are added to
  /// this process's.
  RunningProgram(const Arguments& words, const std::filesystem::path& directory,
                 const std::vector<std::string>& environment = {});
  ~RunningProgram();
  RunningProgram(const RunningProgram&) = delete;
  RunningProgram& operator=(const RunningProgram&) = delete;

  pid_t process() const { return process_; }
  /// Processes that it has started and that still run.
  std::vector<pid_t> children() const;
  bool has_ended();
  /// Waits for its end. Status -1 is one by a signal.
  ProgramResult wait();

 private:
  void end(int status);

  pid_t process_ = 0;
  std::filesystem::path streams_;
  int status_ = -1;
  bool ended_ = false;
};

/// The same to its end.
ProgramResult run(const Arguments& words, const std::filesystem::path& directory,
                  const std::vector<std::string>& environment = {});
/// Runs warpscope with `arguments`.
ProgramResult run_program(const Arguments& arguments, const std::filesystem::path& directory,
                          const std::vector<std::string>& environment = {});

std::string file_text(const std::filesystem::path& path);
void write_text(const std::filesystem::path& path, const std::string& text);
/// Lines of `text`, without their ends.
std::vector<std::string> lines(const std::string& text);

/// A fresh directory that is removed with all it holds.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  /// Names of the files in it, sorted.
  std::vector<std::string> files() const;

 private:
  std::filesystem::path path_;
};

/// The program under test, then `arguments`.
Arguments warpscope(const Arguments& arguments);

/// Columns that the widest line of `text` takes on a terminal.
std::size_t widest_line(const std::string& text);

/// Flags of a small problem that runs in a fraction of a second.
Arguments small_run(const std::string& kernel, const Arguments& more = {});

}  // namespace warpscope::cli_test

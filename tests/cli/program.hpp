// Runs the built program the way a user does.
#pragma once

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

/// Runs warpscope with `arguments` in `directory`; `environment` entries ("NAME=value") are added to this
/// process's.
ProgramResult run_program(const Arguments& arguments, const std::filesystem::path& directory,
                          const std::vector<std::string>& environment = {});

std::string file_text(const std::filesystem::path& path);
void write_text(const std::filesystem::path& path, const std::string& text);

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

/// Flags of a small problem that runs in a fraction of a second.
Arguments small_run(const std::string& kernel, const Arguments& more = {});

}  // namespace warpscope::cli_test

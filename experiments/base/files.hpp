// Whole files: reading one, and writing one so that nobody ever sees half of it.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace warpscope::experiments {

/// Throws FileError with the system's reason.
std::string read_file(const std::filesystem::path& path);

/// A file under construction beside its final name. Until commit() nothing is seen under that name, and
/// without commit() nothing stays behind. What is no regular file, like /dev/null or a pipe, is written to
/// directly and stays what it is.
class PendingFile {
 public:
  /// Opens the temporary file at once, so that a path that cannot be written fails before the work.
  explicit PendingFile(std::filesystem::path path);
  ~PendingFile();
  PendingFile(const PendingFile&) = delete;
  PendingFile& operator=(const PendingFile&) = delete;

  void write(std::string_view text);
  void commit();

 private:
  void remove_temporary() const;
  [[noreturn]] void fail(const char* what) const;

  std::filesystem::path path_;
  std::string temporary_;  ///< empty where `path_` is written to directly
  int descriptor_ = -1;
};

/// Writes `text` to `path` as a PendingFile does.
void write_file(const std::filesystem::path& path, std::string_view text);

/// One name for all names of a file, whether it exists or not.
std::filesystem::path place_of(const std::filesystem::path& path);

/// Creates `directory` and its parents. Throws FileError.
void make_directory(const std::filesystem::path& directory);

}  // namespace warpscope::experiments

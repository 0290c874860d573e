// Whole files: reading one, and writing one so that nobody ever sees half of it.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <string_view>

namespace warpscope::experiments {

/// Throws FileError with the system's reason.
std::string read_file(const std::filesystem::path& path);

/// A file under construction. Until commit() nothing is seen under its name, and without commit() nothing
/// stays behind. A file that was there before passes its permissions on, and where the name is a symbolic
/// link the file behind it is replaced. What is no regular file, like /dev/null or a pipe, is written to
/// directly and stays what it is. Every failure is a FileError with the system's reason.
class PendingFile {
 public:
  explicit PendingFile(std::filesystem::path path);
  ~PendingFile();
  PendingFile(const PendingFile&) = delete;
  PendingFile& operator=(const PendingFile&) = delete;

  void write(std::string_view text);
  /// The file is on the disk, as far as the system can tell, and has its name.
  void commit();

 private:
  void open_temporary();
  /// Gives a file without a name one beside the target.
  void name_temporary();
  void pass_on_permissions() const;
  void close();
  [[noreturn]] void fail(int error) const;

  std::filesystem::path path_;    ///< as messages show it
  std::filesystem::path target_;  ///< what the name leads to, through symbolic links
  bool direct_ = false;           ///< no regular file: written to as it is
  std::string temporary_;         ///< empty while the file has no name
  int descriptor_ = -1;
};

/// Throws FileError where a file could not be written now; leaves nothing behind.
void check_writable(const std::filesystem::path& path);

/// Writes `text` to `path` as a PendingFile does.
void write_file(const std::filesystem::path& path, std::string_view text);

/// One name for all names of a file, whether it exists or not.
std::filesystem::path place_of(const std::filesystem::path& path);

/// Creates `directory` and its parents. Throws FileError.
void make_directory(const std::filesystem::path& directory);

}  // namespace warpscope::experiments

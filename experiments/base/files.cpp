#include "experiments/base/files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <random>
#include <sstream>
#include <system_error>
#include <utility>

#include "experiments/base/usage_error.hpp"

namespace warpscope::experiments {
namespace {

namespace fs = std::filesystem;

constexpr mode_t kPermissions = 0666;  // less what the user's mask takes away

std::string reason(int error) {
  return std::generic_category().message(error);
}

/// What `path` leads to: itself, or the end of a chain of symbolic links, whether that exists or not.
fs::path behind_links(fs::path path) {
  constexpr int kLongestChain = 40;
  std::error_code error;
  for (int link = 0; link < kLongestChain && fs::is_symlink(fs::symlink_status(path, error)); ++link) {
    path = path.parent_path() / fs::read_symlink(path, error);
  }
  return path;
}

/// A name beside `target` that no other program will choose.
std::string fresh_name(const fs::path& target) {
  std::random_device random;
  return fmt::format("{}.{:08x}{:08x}.partial", target.native(), random(), random());
}

}  // namespace

std::string read_file(const fs::path& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) {
    throw FileError(fmt::format("{}: is a directory", path.string()));
  }
  std::ifstream input(path, std::ios::binary);
  if (!input) {
    throw FileError(fmt::format("{}: cannot be read: {}", path.string(), reason(errno)));
  }
  std::ostringstream text;
  text << input.rdbuf();
  return std::move(text).str();
}

PendingFile::PendingFile(fs::path path) : path_(std::move(path)), target_(behind_links(path_)) {
  std::error_code error;
  if (fs::is_directory(target_, error)) {
    throw FileError(fmt::format("{}: is a directory", path_.string()));
  }
  direct_ = fs::exists(target_, error) && !fs::is_regular_file(target_, error);
  if (direct_) {
    descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
  } else {
    open_temporary();
  }
  if (descriptor_ < 0) {
    fail(errno);
  }
}

void PendingFile::open_temporary() {
  // A file without a name is gone with its process, whatever ends that. Not every file system has them.
  const fs::path folder = target_.has_parent_path() ? target_.parent_path() : fs::path(".");
  descriptor_ = ::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, kPermissions);
  if (descriptor_ < 0) {
    temporary_ = fresh_name(target_);
    descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kPermissions);
  }
}

PendingFile::~PendingFile() {
  close();
}

void PendingFile::close() {
  if (descriptor_ >= 0) {
    ::close(descriptor_);
    descriptor_ = -1;
  }
  if (!temporary_.empty()) {
    ::unlink(temporary_.c_str());
    temporary_.clear();
  }
}

void PendingFile::write(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor_, text.data(), text.size());
    if (written < 0 && errno != EINTR) {
      fail(errno);
    }
    text.remove_prefix(written < 0 ? 0 : static_cast<std::size_t>(written));
  }
}

void PendingFile::name_temporary() {
  temporary_ = fresh_name(target_);
  const std::string self = fmt::format("/proc/self/fd/{}", descriptor_);
  if (::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, temporary_.c_str(), AT_SYMLINK_FOLLOW) != 0) {
    const int error = errno;
    temporary_.clear();
    fail(error);
  }
}

void PendingFile::pass_on_permissions() const {
  struct stat before {};
  if (::stat(target_.c_str(), &before) == 0) {
    // Only root may give a file to another owner; for everybody else it stays their own.
    static_cast<void>(!::fchown(descriptor_, before.st_uid, before.st_gid));
    ::fchmod(descriptor_, before.st_mode & 07777);
  }
}

void PendingFile::commit() {
  if (!direct_) {
    pass_on_permissions();
    // On the disk before anything that it was made from may go.
    if (::fsync(descriptor_) != 0) {
      fail(errno);
    }
    if (temporary_.empty()) {
      name_temporary();
    }
  }
  const int closed = ::close(std::exchange(descriptor_, -1));
  if (closed != 0 || (!direct_ && ::rename(temporary_.c_str(), target_.c_str()) != 0)) {
    const int error = errno;
    close();
    fail(error);
  }
  temporary_.clear();
}

void PendingFile::fail(int error) const {
  throw FileError(fmt::format("{}: cannot be written: {}", path_.string(), reason(error)));
}

void check_writable(const fs::path& path) {
  std::error_code error;
  const fs::path target = behind_links(path);
  if (!fs::exists(target, error) || fs::is_regular_file(target, error) || fs::is_directory(target, error)) {
    static_cast<void>(PendingFile(path));
  } else if (::access(path.c_str(), W_OK) != 0) {
    // A pipe is not opened: its reader would take the end of that for the end of the text.
    throw FileError(fmt::format("{}: cannot be written: {}", path.string(), reason(errno)));
  }
}

void write_file(const fs::path& path, std::string_view text) {
  PendingFile file(path);
  file.write(text);
  file.commit();
}

fs::path place_of(const fs::path& path) {
  // Absolute first: of a name whose very first part does not exist nothing else would be made.
  return fs::weakly_canonical(fs::absolute(behind_links(path)));
}

void make_directory(const fs::path& directory) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (error || !fs::is_directory(directory)) {
    throw FileError(fmt::format("{}: cannot be made a directory: {}", directory.string(),
                                error ? error.message() : "a file is in the way"));
  }
}

}  // namespace warpscope::experiments

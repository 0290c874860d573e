#include "experiments/base/files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <system_error>

#include "experiments/base/usage_error.hpp"

namespace warpscope::experiments {
namespace {

std::string reason() {
  return std::generic_category().message(errno);
}

}  // namespace

std::string read_file(const std::filesystem::path& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    throw FileError(fmt::format("{}: is a directory", path.string()));
  }
  std::ifstream input(path, std::ios::binary);
  if (!input) {
    throw FileError(fmt::format("{}: cannot be read: {}", path.string(), reason()));
  }
  std::ostringstream text;
  text << input.rdbuf();
  return std::move(text).str();
}

PendingFile::PendingFile(std::filesystem::path path) : path_(std::move(path)) {
  std::error_code error;
  if (std::filesystem::is_directory(path_, error)) {
    throw FileError(fmt::format("{}: is a directory", path_.string()));
  }
  if (!std::filesystem::exists(path_, error) || std::filesystem::is_regular_file(path_, error)) {
    temporary_ = path_.string() + ".partial";
  }
  // One name, so that what a killed process leaves behind is replaced by the next one.
  constexpr mode_t kPermissions = 0666;
  const std::string& target = temporary_.empty() ? path_.native() : temporary_;
  descriptor_ = ::open(target.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kPermissions);
  if (descriptor_ < 0) {
    fail("cannot be written");
  }
}

PendingFile::~PendingFile() {
  if (descriptor_ >= 0) {
    ::close(descriptor_);
    remove_temporary();
  }
}

void PendingFile::remove_temporary() const {
  if (!temporary_.empty()) {
    ::unlink(temporary_.c_str());
  }
}

void PendingFile::write(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor_, text.data(), text.size());
    if (written < 0 && errno != EINTR) {
      fail("cannot be written");
    }
    text.remove_prefix(written < 0 ? 0 : static_cast<std::size_t>(written));
  }
}

void PendingFile::commit() {
  const bool closed = ::close(descriptor_) == 0;
  if (!closed || (!temporary_.empty() && ::rename(temporary_.c_str(), path_.c_str()) != 0)) {
    const int error = errno;
    remove_temporary();
    descriptor_ = -1;
    errno = error;
    fail("cannot be written");
  }
  descriptor_ = -1;
}

void PendingFile::fail(const char* what) const {
  throw FileError(fmt::format("{}: {}: {}", path_.string(), what, reason()));
}

void write_file(const std::filesystem::path& path, std::string_view text) {
  PendingFile file(path);
  file.write(text);
  file.commit();
}

std::filesystem::path place_of(const std::filesystem::path& path) {
  // Absolute first: of a name whose very first part does not exist nothing else would be made.
  return std::filesystem::weakly_canonical(std::filesystem::absolute(path));
}

void make_directory(const std::filesystem::path& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error || !std::filesystem::is_directory(directory)) {
    throw FileError(fmt::format("{}: cannot be made a directory: {}", directory.string(),
                                error ? error.message() : "a file is in the way"));
  }
}

}  // namespace warpscope::experiments

// Preloaded into a program: makes the file system slow, or full, at the places where that hurts.
//
// CHAOS_DELAY_US=N    rename, link and unlink take N microseconds longer.
// CHAOS_FULL_AFTER=N  once N bytes have been written to files whose name contains ".store", every further
// write to
//                     such a file says that the disk is full. Each process counts for itself.
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

/// The function that this library stands in front of.
template <typename Function>
Function* real(const char* name, Function* /*type*/) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

void wait_a_little() {
  if (const char* delay = std::getenv("CHAOS_DELAY_US")) {
    ::usleep(static_cast<useconds_t>(std::atol(delay)));
  }
}

bool is_full(int file, std::size_t bytes) {
  static std::size_t written = 0;
  const char* limit = std::getenv("CHAOS_FULL_AFTER");
  if (limit == nullptr) {
    return false;
  }
  std::array<char, 4096> name{};
  const std::string link = "/proc/self/fd/" + std::to_string(file);
  const ssize_t length = ::readlink(link.c_str(), name.data(), name.size());
  if (length <= 0 || std::string_view(name.data(), static_cast<std::size_t>(length)).find(".store") ==
                         std::string_view::npos) {
    return false;
  }
  written += bytes;
  return written > static_cast<std::size_t>(std::atol(limit));
}

}  // namespace

extern "C" {

int rename(const char* from, const char* to) noexcept {
  wait_a_little();
  return real("rename", &rename)(from, to);
}

int unlink(const char* path) noexcept {
  wait_a_little();
  return real("unlink", &unlink)(path);
}

int remove(const char* path) noexcept {
  wait_a_little();
  return real("remove", &remove)(path);
}

int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) noexcept {
  wait_a_little();
  return real("linkat", &linkat)(from_folder, from, to_folder, to, flags);
}

ssize_t write(int file, const void* data, std::size_t bytes) {
  if (is_full(file, bytes)) {
    errno = ENOSPC;
    return -1;
  }
  return real("write", &write)(file, data, bytes);
}

ssize_t pwrite64(int file, const void* data, std::size_t bytes, off64_t offset) {
  if (is_full(file, bytes)) {
    errno = ENOSPC;
    return -1;
  }
  return real("pwrite64", &pwrite64)(file, data, bytes, offset);
}

}  // extern "C"

// Files that a command names, and that must not be one another.
#pragma once

#include <filesystem>
#include <span>
#include <string>

namespace warpscope::experiments {

/// A file and the flag that names it, for messages: "--points", "a base of --gpu".
struct NamedFile {
  std::string flag;
  std::filesystem::path path;  ///< empty, or "-" for a standard stream: no file
};

/// False for a flag that was not given, and for "-", a standard stream.
inline bool names_file(const std::filesystem::path& path) {
  return !path.empty() && path != "-";
}

/// Throws UsageError where two names lead to one file and one of them is an output: writing it would destroy
/// the other. Outputs that are no regular files, like /dev/null, may be named as often as one likes.
void check_apart(std::span<const NamedFile> inputs, std::span<const NamedFile> outputs);

}  // namespace warpscope::experiments

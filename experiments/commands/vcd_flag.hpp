// The flag of `run` that traces signals of the GPU to a file.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>

namespace warpscope::experiments {

/// Where SystemC writes a VCD file: in a directory of its own, until it is complete. Gone with this object.
class VcdDraft {
 public:
  /// Throws FileError.
  VcdDraft();
  ~VcdDraft();
  VcdDraft(const VcdDraft&) = delete;
  VcdDraft& operator=(const VcdDraft&) = delete;

  std::string file() const { return (directory_ / "trace.vcd").string(); }
  /// Copies what was written to `path`. Throws FileError.
  void write_to(const std::filesystem::path& path) const;

 private:
  std::filesystem::path directory_;
};

/// --vcd.
class VcdFlag {
 public:
  void add_to(CLI::App& app);
  /// Empty if none is asked for.
  const std::string& file() const { return file_; }
  /// Throws UsageError where it is no file's name.
  void check() const;

 private:
  std::string file_;
};

}  // namespace warpscope::experiments

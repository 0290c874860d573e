// From settings to one configuration: the chain of files, later settings over earlier ones, every key
// checked.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/hw/config_text.hpp"
#include "model/hw/hw_config.hpp"

namespace warpscope::hw {

/// Collects settings into a configuration and remembers what was wrong and where each value came from.
class ConfigBuilder {
 public:
  explicit ConfigBuilder(std::filesystem::path search_dir) : search_dir_(std::move(search_dir)) {}

  /// Reads a file and, before it, the files it is based on.
  void add_file(const std::filesystem::path& file);
  /// Applies "key=value" on top of what is there.
  void add_override(std::string_view text);
  /// Checks that nothing is missing and that the values fit one another. Call once, last.
  void finish();

  const HwConfig& config() const { return config_; }
  const std::vector<std::string>& problems() const { return problems_; }
  const std::vector<std::filesystem::path>& files() const { return files_; }
  /// Where the value of `key` was set.
  const std::string& origin(std::string_view key) const { return origins_.at(std::string(key)); }

 private:
  void apply(const Setting& setting);
  void add_base(const Setting& base, const std::filesystem::path& file);

  std::filesystem::path search_dir_;
  std::vector<std::filesystem::path> open_files_;  ///< from the first file to the one being read
  std::vector<std::filesystem::path> files_;       ///< all that were read
  std::filesystem::path top_file_;                 ///< the file that the caller named
  HwConfig config_;
  std::map<std::string, std::string> origins_;  ///< key to origin; also holds keys whose value was refused
  std::vector<std::string> problems_;
  bool unreadable_ = false;  ///< a file is missing or malformed, so missing keys say nothing new
};

/// The file that a name ("h200-sxm-141gb") or a path ("./mine.toml") stands for.
std::filesystem::path config_file(const std::string& name_or_path, const std::filesystem::path& search_dir);
/// True if the text is a path, not the name of a GPU.
bool is_config_path(const std::string& name_or_path);

}  // namespace warpscope::hw

// Loads the description of a GPU from hwconfigs/, or from a user's own file.
#pragma once

#include <filesystem>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "model/hw/hw_config.hpp"

namespace warpscope::hw {

/// A description that cannot be used. what() has one line per problem, e.g.
/// "hwconfigs/h100-sxm5-80gb.toml:41: l2.partitions: 0 is not in 1..8".
class ConfigError : public std::runtime_error {
 public:
  explicit ConfigError(std::vector<std::string> problems);
  const std::vector<std::string>& problems() const { return problems_; }

 private:
  std::vector<std::string> problems_;
};

/// One key with its effective value and where that came from.
struct ConfigRow {
  std::string_view key;
  std::string value;
  std::string_view unit;
  std::string origin;  ///< "file:line", or "--set key=value"
  std::string_view meaning;
};

/// A complete, checked description.
struct LoadedConfig {
  HwConfig config;
  std::vector<ConfigRow> rows;               ///< every key, in the order of the schema
  std::vector<std::filesystem::path> files;  ///< all that were read, as the caller or a base= named them
};

/// Loads a GPU by name from `search_dir`, or a file by path (anything with a '/' or ending in .toml), with
/// the files it is based on, and applies `overrides` ("sm.xu.lanes=32"), later ones over earlier ones. Throws
/// ConfigError with all problems found. Messages show paths the way the caller gave them.
LoadedConfig load(const std::string& name_or_path, std::span<const std::string> overrides,
                  const std::filesystem::path& search_dir);

/// What load() would complain about; empty if the file is fine.
std::vector<std::string> check(const std::string& name_or_path, const std::filesystem::path& search_dir);

/// Names that load() accepts, sorted. Throws ConfigError if the directory cannot be read.
std::vector<std::string> list_configs(const std::filesystem::path& search_dir);

/// Changes if and only if the value of some key changes; comments, file names and the file layout do not
/// count.
std::string content_hash(const HwConfig& config);

}  // namespace warpscope::hw

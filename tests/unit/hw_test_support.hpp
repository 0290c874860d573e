// A folder of GPU descriptions that lives as long as one test.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "model/hw/config_loader.hpp"

namespace warpscope::hw::test {

inline const std::filesystem::path shipped_dir = std::filesystem::path(WARPSCOPE_SOURCE_DIR) / "hwconfigs";
inline const std::string complete_name = "a100-sxm4-80gb";  ///< a shipped file that has every key itself

inline std::string read_text(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Replaces the one occurrence of `from`.
inline std::string with(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  if (at == std::string::npos || text.find(from, at + 1) != std::string::npos) {
    throw std::invalid_argument("not there exactly once: " + std::string(from));
  }
  return text.replace(at, from.size(), to);
}

/// Number of the line on which `part` first stands.
inline std::string line_of(const std::string& text, std::string_view part) {
  const std::size_t at = text.find(part);
  return std::to_string(1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
}

class ConfigFolder {
 public:
  ConfigFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "warpscope-hw-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) {
      throw std::runtime_error("cannot create " + pattern);
    }
    dir_ = pattern;
  }
  ~ConfigFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(dir_, ignored);
  }
  ConfigFolder(const ConfigFolder&) = delete;
  ConfigFolder& operator=(const ConfigFolder&) = delete;

  const std::filesystem::path& dir() const { return dir_; }

  void write(const std::string& name, std::string_view text) const {
    const std::filesystem::path file = dir_ / (name + ".toml");
    std::filesystem::remove(file);  // some file systems flush a file that is truncated and written anew
    std::ofstream(file, std::ios::binary) << text;
  }

  /// What is wrong with a file of this folder, with the folder cut from the messages.
  std::vector<std::string> problems(const std::string& name,
                                    const std::vector<std::string>& overrides = {}) const {
    try {
      load(name, overrides, dir_);
      return {};
    } catch (const ConfigError& error) {
      std::vector<std::string> lines = error.problems();
      const std::string prefix = dir_.string() + "/";
      for (std::string& line : lines) {
        for (std::size_t at = line.find(prefix); at != std::string::npos; at = line.find(prefix)) {
          line.erase(at, prefix.size());
        }
      }
      return lines;
    }
  }

 private:
  std::filesystem::path dir_;
};

}  // namespace warpscope::hw::test

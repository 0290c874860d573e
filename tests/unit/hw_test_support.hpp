// A folder of GPU descriptions that lives as long as one test.
#pragma once

#include <algorithm>
#include <cstddef>
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

/// A file that has every key, one a line: "sm.xu.lanes = 4".
inline std::string complete_text() {
  std::string text;
  for (const ConfigRow& row : load(complete_name, {}, shipped_dir).rows) {
    const bool is_text = row.key == "gpu.name" || row.key == "gpu.compute_capability";
    text += std::string(row.key) + " = " + (is_text ? '"' + row.value + '"' : row.value) + '\n';
  }
  return text;
}

/// Where the line of `key` begins in a text of complete_text()'s form.
inline std::size_t start_of(const std::string& text, std::string_view key) {
  const std::size_t at = ('\n' + text).find('\n' + std::string(key) + " = ");
  return at != std::string::npos ? at : throw std::invalid_argument("no key " + std::string(key));
}

/// Replaces the whole line of `key`.
inline std::string with(std::string text, std::string_view key, std::string_view line) {
  const std::size_t at = start_of(text, key);
  return text.replace(at, text.find('\n', at) - at, line);
}

/// Number of the line of `key`.
inline std::string line_of(const std::string& text, std::string_view key) {
  const auto start = static_cast<std::ptrdiff_t>(start_of(text, key));
  return std::to_string(1 + std::count(text.begin(), text.begin() + start, '\n'));
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

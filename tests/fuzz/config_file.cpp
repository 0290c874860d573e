// Descriptions of GPUs: what is loaded says the same once it is written out in full.
#include <fmt/format.h>

#include "experiments/point/point.hpp"
#include "model/hw/config_loader.hpp"
#include "tests/fuzz/scratch_folder.hpp"
#include "tests/fuzz/targets.hpp"

namespace warpscope::fuzz {
namespace {

hw::LoadedConfig load(const ScratchFolder& folder, std::string_view text) {
  return hw::load(folder.only("gpu.toml", text).string(), {}, experiments::config_directory());
}

/// Every key with its value.
std::string written(const hw::LoadedConfig& loaded) {
  std::string text;
  for (const hw::ConfigRow& row : loaded.rows) {
    // Names come as they are; all that TOML would take for something else is escaped.
    const bool is_text = row.key == "gpu.name" || row.key == "gpu.compute_capability";
    text += fmt::format("{} = ", row.key);
    if (!is_text) {
      text += row.value;
    } else {
      text += '"';
      for (const char symbol : row.value) {
        const auto code = static_cast<unsigned char>(symbol);
        const bool plain = code >= 0x20 && code != 0x7f && symbol != '"' && symbol != '\\';
        text += plain ? std::string(1, symbol) : fmt::format("\\u{:04x}", code);
      }
      text += '"';
    }
    text += '\n';
  }
  return text;
}

}  // namespace

bool config_file(std::string_view input) {
  static const ScratchFolder folder;
  std::string full;
  std::string hash;
  try {
    const hw::LoadedConfig loaded = load(folder, input);
    full = written(loaded);
    hash = hw::content_hash(loaded.config);
  } catch (const hw::ConfigError& error) {
    require(!error.problems().empty(), "refused without a reason");
    for (const std::string& problem : error.problems()) {
      require_one_line(problem);
    }
    return false;
  }
  require(hw::content_hash(load(folder, full).config) == hash, "what was written loads otherwise:\n" + full);
  return true;
}

}  // namespace warpscope::fuzz

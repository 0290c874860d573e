#include "model/hw/config_loader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <xxhash.h>

#include <algorithm>
#include <system_error>

#include "model/base/did_you_mean.hpp"
#include "model/hw/config_resolve.hpp"
#include "model/hw/config_schema.hpp"

namespace warpscope::hw {
namespace {

ConfigBuilder build(const std::string& name_or_path, std::span<const std::string> overrides,
                    const std::filesystem::path& search_dir) {
  const std::filesystem::path file = config_file(name_or_path, search_dir);
  std::error_code error;
  if (!is_config_path(name_or_path) && !std::filesystem::exists(file, error)) {
    const std::vector<std::string> known = list_configs(search_dir);
    throw ConfigError({fmt::format("unknown GPU \"{}\"; {}known are {}", one_line(name_or_path),
                                   base::did_you_mean(name_or_path, known), fmt::join(known, ", "))});
  }
  ConfigBuilder builder(search_dir);
  builder.add_file(file);
  for (const std::string& text : overrides) {
    builder.add_override(text);
  }
  builder.finish();
  return builder;
}

}  // namespace

ConfigError::ConfigError(std::vector<std::string> problems)
    : std::runtime_error(fmt::format("{}", fmt::join(problems, "\n"))), problems_(std::move(problems)) {}

LoadedConfig load(const std::string& name_or_path, std::span<const std::string> overrides,
                  const std::filesystem::path& search_dir) {
  const ConfigBuilder builder = build(name_or_path, overrides, search_dir);
  if (!builder.problems().empty()) {
    throw ConfigError(builder.problems());
  }
  LoadedConfig loaded{builder.config(), {}, builder.files()};
  for (const KeySpec& spec : key_specs()) {
    loaded.rows.push_back(
        {spec.key, value_text(spec, loaded.config), spec.unit, builder.origin(spec.key), spec.meaning});
  }
  return loaded;
}

std::vector<std::string> check(const std::string& name_or_path, const std::filesystem::path& search_dir) {
  try {
    return build(name_or_path, {}, search_dir).problems();
  } catch (const ConfigError& error) {
    return error.problems();
  }
}

std::vector<std::string> list_configs(const std::filesystem::path& search_dir) {
  std::error_code error;
  std::filesystem::directory_iterator entries(search_dir, error);
  if (error) {
    throw ConfigError({fmt::format("{}: {}", one_line(search_dir.string()), error.message())});
  }
  std::vector<std::string> names;
  for (const std::filesystem::directory_entry& entry : entries) {
    if (entry.is_regular_file(error) && entry.path().extension() == ".toml") {
      names.push_back(entry.path().stem().string());
    }
  }
  std::ranges::sort(names);
  return names;
}

std::string content_hash(const HwConfig& config) {
  std::string text;
  for (const KeySpec& spec : key_specs()) {
    fmt::format_to(std::back_inserter(text), "{}={}\n", spec.key, value_text(spec, config));
  }
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

}  // namespace warpscope::hw

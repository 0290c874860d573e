#include "tests/fuzz/stock_gpu.hpp"

#include <map>

#include "experiments/point/point.hpp"
#include "model/hw/config_resolve.hpp"

namespace warpscope::fuzz {
namespace {

/// The file as it was read, before overrides.
const hw::ConfigBuilder& read(const std::string& name_or_path) {
  static std::map<std::string, hw::ConfigBuilder> known;
  const auto found = known.find(name_or_path);
  if (found != known.end()) {
    return found->second;
  }
  const std::filesystem::path directory = experiments::config_directory();
  static_cast<void>(hw::load(name_or_path, {}, directory));  // only what loads is kept
  hw::ConfigBuilder builder(directory);
  builder.add_file(hw::config_file(name_or_path, directory));
  return known.emplace(name_or_path, std::move(builder)).first->second;
}

}  // namespace

hw::HwConfig stock_gpu(const std::string& name_or_path, std::span<const std::string> overrides) {
  hw::ConfigBuilder builder = read(name_or_path);
  for (const std::string& text : overrides) {
    builder.add_override(text);
  }
  builder.finish();
  if (!builder.problems().empty()) {
    throw hw::ConfigError(builder.problems());
  }
  return builder.config();
}

}  // namespace warpscope::fuzz

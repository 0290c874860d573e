#include "experiments/store/point_key.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include "experiments/point/point_json.hpp"
#include "model/hw/config_loader.hpp"

namespace warpscope::experiments {

std::string point_key(const Point& point, const hw::HwConfig& config, const std::string& model_version) {
  nlohmann::json json = to_json(point);
  json.erase("gpu");
  json.erase("set");
  const std::string text = fmt::format("{} {} {}", model_version, hw::content_hash(config), json.dump());
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

}  // namespace warpscope::experiments

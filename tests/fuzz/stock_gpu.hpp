// GPUs of hwconfigs/ without reading their files each time.
#pragma once

#include <span>
#include <string>

#include "model/hw/config_loader.hpp"

namespace warpscope::fuzz {

/// The file of a GPU that is simulated fast, see small.toml.
inline const std::string kSmallGpu = WARPSCOPE_SOURCE_DIR "/tests/fuzz/small.toml";

/// The GPU with `overrides` applied. Throws ConfigError as hw::load() does.
hw::HwConfig stock_gpu(const std::string& name_or_path, std::span<const std::string> overrides);

}  // namespace warpscope::fuzz

#include "experiments/sweep/shard.hpp"

#include <fmt/format.h>

#include <charconv>

#include "experiments/base/printable.hpp"
#include "experiments/base/usage_error.hpp"

namespace warpscope::experiments {

Shard read_shard(const std::string& text) {
  constexpr std::size_t kMost = 1000000;
  Shard shard;
  const char* end = text.data() + text.size();
  const auto index = std::from_chars(text.data(), end, shard.index);
  const bool divided = index.ec == std::errc() && index.ptr != end && *index.ptr == '/';
  const auto count = divided ? std::from_chars(index.ptr + 1, end, shard.count) : index;
  if (!divided || count.ec != std::errc() || count.ptr != end || shard.index < 1 ||
      shard.index > shard.count || shard.count > kMost) {
    throw UsageError(fmt::format("--shard {}: legal is i/n, share i of n with i from 1 to n and n up to {}",
                                 in_quotes(text), kMost));
  }
  return shard;
}

std::vector<KeyedPoint> share_of(const Shard& shard, std::span<const KeyedPoint> points) {
  std::vector<KeyedPoint> share;
  for (std::size_t i = shard.index - 1; i < points.size(); i += shard.count) {
    share.push_back(points[i]);
  }
  return share;
}

}  // namespace warpscope::experiments

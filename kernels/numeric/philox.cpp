#include "kernels/numeric/philox.hpp"

#include <cmath>
#include <cstddef>

namespace warpscope::kernels {
namespace {

constexpr std::uint64_t kSeed = 20230717;  // any; the library draws one for each call
constexpr int kRounds = 7;
constexpr std::array<std::uint32_t, 2> kFactors = {0xD2511F53, 0xCD9E8D57};
constexpr std::array<std::uint32_t, 2> kKeySteps = {0x9E3779B9, 0xBB67AE85};

std::uint32_t low(std::uint64_t value) {
  return static_cast<std::uint32_t>(value);
}
std::uint32_t high(std::uint64_t value) {
  return static_cast<std::uint32_t>(value >> 32U);
}

}  // namespace

std::array<std::uint32_t, 4> philox_7(std::uint64_t seed, std::uint64_t subsequence, std::uint64_t offset) {
  std::array<std::uint32_t, 4> counter = {low(offset), high(offset), low(subsequence), high(subsequence)};
  std::array<std::uint32_t, 2> key = {low(seed), high(seed)};
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t first = std::uint64_t{kFactors[0]} * counter[0];
    const std::uint64_t second = std::uint64_t{kFactors[1]} * counter[2];
    counter = {high(second) ^ counter[1] ^ key[0], low(second), high(first) ^ counter[3] ^ key[1],
               low(first)};
    key[0] += kKeySteps[0];
    key[1] += kKeySteps[1];
  }
  return counter;
}

// A lane draws 16 bytes for its part of 16 x 32 weights, which is four accumulators of 16 x 8.
bool keeps_weight(std::int64_t head, std::int64_t row, std::int64_t col, double probability) {
  const std::int64_t lane = row % 8 * 4 + col % 8 / 2;
  const auto subsequence = static_cast<std::uint64_t>(row / 16) | static_cast<std::uint64_t>(col / 32) << 32U;
  const auto numbers = philox_7(kSeed, subsequence, static_cast<std::uint64_t>(head * 32 + lane));
  const auto byte = static_cast<std::size_t>(col % 32 / 8 * 4 + row % 16 / 8 * 2 + col % 2);
  const std::uint32_t number = numbers[byte / 4] >> 8 * (byte % 4) & 0xffU;
  return number <= static_cast<std::uint32_t>(std::floor((1 - probability) * 255));
}

}  // namespace warpscope::kernels

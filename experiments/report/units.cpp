#include "experiments/report/units.hpp"

#include <fmt/format.h>

#include <array>

namespace warpscope::experiments {

std::string grouped(std::int64_t number) {
  std::string text = std::to_string(number);
  const std::size_t first_digit = number < 0 ? 1 : 0;
  for (std::size_t at = text.size(); at > first_digit + 3;) {
    at -= 3;
    text.insert(at, 1, ',');
  }
  return text;
}

std::string time_text(double microseconds) {
  constexpr double kMillisecond = 1000;
  return microseconds < 10 * kMillisecond ? fmt::format("{:.1f} us", microseconds)
                                          : fmt::format("{:.2f} ms", microseconds / kMillisecond);
}

std::string percent(double share) {
  return fmt::format("{:.1f} %", 100 * share);
}

ByteUnit byte_unit(std::uint64_t largest) {
  static constexpr std::array<ByteUnit, 3> kUnits = {ByteUnit{"KB", 1e3}, ByteUnit{"MB", 1e6},
                                                     ByteUnit{"GB", 1e9}};
  // A unit is used from ten of it on, so that small tensors beside a large one keep their digits.
  constexpr double kLeast = 10;
  ByteUnit unit = kUnits[0];
  for (const ByteUnit& larger : kUnits) {
    unit = static_cast<double>(largest) >= kLeast * larger.bytes ? larger : unit;
  }
  return unit;
}

std::string bytes_text(std::uint64_t bytes) {
  const ByteUnit unit = byte_unit(bytes * 10);
  return fmt::format("{:.1f} {}", static_cast<double>(bytes) / unit.bytes, unit.name);
}

std::string in_unit(std::uint64_t bytes, const ByteUnit& unit) {
  return bytes == 0 ? "-" : fmt::format("{:.2f}", static_cast<double>(bytes) / unit.bytes);
}

}  // namespace warpscope::experiments

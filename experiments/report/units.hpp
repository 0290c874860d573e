// Numbers for people.
#pragma once

#include <cstdint>
#include <string>

namespace warpscope::experiments {

/// 1234567 -> "1,234,567".
std::string grouped(std::int64_t number);
/// Three or four significant digits: "12.3 us", "4.57 ms".
std::string time_text(double microseconds);
/// 0.1234 -> "12.3 %".
std::string percent(double share);

/// A decimal unit of bytes that suits the largest number of a table.
struct ByteUnit {
  const char* name;
  double bytes;
};
ByteUnit byte_unit(std::uint64_t largest);
/// One number with the unit that suits it.
std::string bytes_text(std::uint64_t bytes);
std::string in_unit(std::uint64_t bytes, const ByteUnit& unit);

}  // namespace warpscope::experiments

// What became of a point.
#pragma once

#include <cstdint>
#include <string>

namespace warpscope::experiments {

enum class Fate : std::uint8_t {
  done,     ///< there is a result
  refused,  ///< kernel or model say why it cannot be; they always will, on every machine
  died      ///< the machine lacked something, or the process came to an end; another try may succeed
};

struct Outcome {
  Fate fate = Fate::died;
  std::string text;  ///< the result, or one line with the reason

  bool operator==(const Outcome&) const = default;
};

}  // namespace warpscope::experiments

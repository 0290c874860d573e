// What is fed with arbitrary inputs: one function for each kind of input that users or other processes give.
// The tests call them with the inputs in corpus/, libFuzzer with inputs that it makes up, see driver.cpp.
#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace warpscope::fuzz {

/// Something that no input may lead to, beside crashes and what sanitizers report.
class Finding : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

inline void require(bool holds, const std::string& what) {
  if (!holds) {
    throw Finding(what);
  }
}

/// Messages go to users one a line.
inline void require_one_line(std::string_view message) {
  require(!message.empty() && message.find('\n') == std::string_view::npos,
          "not one line: " + std::string(message));
}

/// True if the input was taken, false if it was refused with the error that the interface promises. Any other
/// exception is a finding.
using Feed = bool (*)(std::string_view input);

bool command_line(std::string_view input);
bool config_file(std::string_view input);
bool overrides(std::string_view input);
bool points_csv(std::string_view input);
bool remote_message(std::string_view input);
bool result_json(std::string_view input);
bool simulate(std::string_view input);
bool store_file(std::string_view input);
bool store_rows(std::string_view input);
bool trace_text(std::string_view input);

struct Target {
  std::string_view name;
  Feed feed;
};

/// All of them by name.
std::span<const Target> all_targets();

}  // namespace warpscope::fuzz

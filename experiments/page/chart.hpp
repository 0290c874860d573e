// What a chart shows and how: data that charts/*.js draw, and show as a table beside it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace warpscope::experiments {

/// How the values of a column are shown to people; downloads have them as they are.
enum class Format {
  text,
  number,   ///< three significant digits
  count,    ///< whole, with separators
  percent,  ///< of a share
  change,   ///< of a share, in per cent with its sign
  factor,   ///< "1.23 x"
  tflops,   ///< TFLOP/s, with the unit
  time_us,  ///< microseconds
  bytes,    ///< with the unit that suits it
  cycles,
  yes_no
};

struct ChartColumn {
  std::string key;
  std::string label;
  Format format = Format::number;
};

/// A table with a kind of drawing; `options` say which columns play which part, see charts/*.js.
class Chart {
 public:
  Chart(const char* kind, std::string title, std::vector<ChartColumn> columns);

  /// One value for each column; null is nothing.
  void add_row(nlohmann::ordered_json row);
  /// Chainable.
  Chart& option(const char* key, nlohmann::ordered_json value);

  bool empty() const { return json_["rows"].empty(); }
  const nlohmann::ordered_json& json() const { return json_; }

 private:
  nlohmann::ordered_json json_;
};

}  // namespace warpscope::experiments

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "tests/validation/microbenchmarks.hpp"

namespace warpscope::validation {

std::string MeasuredRow::id() const {
  std::string result = group;
  for (const std::string& part : {name, other}) {
    result += part.empty() ? "" : "/" + part;
  }
  return result + fmt::format("/w{}", warps) + (n != 0 ? fmt::format("/n{}", n) : "");
}

std::vector<MeasuredRow> load_measured_rows(const std::filesystem::path& path) {
  std::ifstream input(path);
  std::vector<MeasuredRow> rows;
  std::string line;
  for (int number = 1; std::getline(input, line); ++number) {
    if (number == 1 || line.empty()) {
      continue;
    }
    std::vector<std::string> cells;
    std::istringstream fields(line);
    for (std::string cell; std::getline(fields, cell, ',');) {
      cells.push_back(cell);
    }
    cells.resize(std::max<std::size_t>(cells.size(), 9));
    try {
      rows.push_back({cells[0], cells[1], cells[2], std::stoi(cells[3]),
                      cells[4].empty() ? 0 : std::stoi(cells[4]), std::stod(cells[5]), cells[6],
                      std::stod(cells[7]), cells[8]});
    } catch (const std::exception&) {
      throw std::invalid_argument(fmt::format("{}:{}: malformed row '{}'", path.string(), number, line));
    }
  }
  return rows;
}

}  // namespace warpscope::validation

// A ladder as a study writes it, and the data of the pages that are made of such.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "experiments/page/ladder_text.hpp"
#include "tests/cli/program.hpp"

namespace warpscope::cli_test {

/// The data that a page carries.
inline nlohmann::ordered_json data_of(const std::string& page) {
  const std::string begin = "<script type=\"application/json\" id=\"data\">";
  const std::size_t from = page.find(begin) + begin.size();
  return nlohmann::ordered_json::parse(page.substr(from, page.find("</script>", from) - from));
}

inline std::string sample_text() {
  return file_text(std::filesystem::path(WARPSCOPE_SOURCE_DIR) / "tests/cli/why_fa2_sample.json");
}

inline experiments::Ladder sample() {
  return experiments::read_ladder(nlohmann::json::parse(sample_text()));
}

}  // namespace warpscope::cli_test

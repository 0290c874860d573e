#include "experiments/sweep/journal.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>

#include "experiments/base/usage_error.hpp"

namespace warpscope::experiments {

using Json = nlohmann::json;

Journal::Journal(const std::filesystem::path& output) : path_(output.string() + ".partial") {}

void Journal::load() {
  std::ifstream input(path_, std::ios::binary);
  for (std::string line; std::getline(input, line);) {
    const Json row = Json::parse(line, nullptr, false);
    if (row.is_object() && row.contains("key") && row["key"].is_string() && row.contains("cells") &&
        row["cells"].is_string()) {
      cells_of_[row["key"]] = row["cells"];
    }
  }
}

const std::string* Journal::find(const std::string& key) const {
  const auto found = cells_of_.find(key);
  return found == cells_of_.end() ? nullptr : &found->second;
}

void Journal::open() {
  file_.reset(std::fopen(path_.c_str(), "wb"));
  if (!file_) {
    throw FileError(
        fmt::format("{}: cannot be written: {}", path_.string(), std::generic_category().message(errno)));
  }
  for (const auto& [key, cells] : cells_of_) {
    write_line(key, cells);
  }
}

void Journal::add(const std::string& key, const std::string& cells) {
  cells_of_[key] = cells;
  write_line(key, cells);
}

void Journal::remove() {
  file_.reset();
  std::error_code error;
  std::filesystem::remove(path_, error);
}

void Journal::write_line(const std::string& key, const std::string& cells) {
  fmt::print(file_.get(), "{}\n",
             Json{{"key", key}, {"cells", cells}}.dump(-1, ' ', false, Json::error_handler_t::replace));
  std::fflush(file_.get());
}

}  // namespace warpscope::experiments

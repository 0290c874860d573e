#include "experiments/sweep/finished.hpp"

#include <fmt/format.h>
#include <sys/xattr.h>
#include <xxhash.h>

#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>

#include "experiments/base/files.hpp"
#include "experiments/store/model_version.hpp"

namespace warpscope::experiments {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr const char* kAttribute = "user.warpscope.sweep";

std::string hash(const std::string& text) {
  const XXH128_hash_t value = XXH3_128bits(text.data(), text.size());
  return fmt::format("{:016x}{:016x}", value.high64, value.low64);
}

/// Everything that decides the outputs.
std::string sweep_hash(const SweepRows& rows) {
  std::string text = fmt::format("{}\n{}\n", model_version(), rows.file().header_text());
  for (std::size_t row = 0; row < rows.rows().size(); ++row) {
    text += fmt::format("{}\n{}{}\n", rows.file().row_text(row), rows.rows()[row].point.key,
                        rows.rows()[row].error);
  }
  return hash(text);
}

/// Of a regular file; nothing for all others.
std::string file_hash(const std::string& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) ? hash(read_file(path)) : "";
}

/// The mark of a file, or null where there is none that can be read.
Json read_mark(const std::string& path) {
  std::array<char, 1024> text{};
  const ssize_t size = ::getxattr(path.c_str(), kAttribute, text.data(), text.size());
  return size < 0 ? Json() : Json::parse(text.data(), text.data() + size, nullptr, false);
}

}  // namespace

void mark_finished(const SweepOutputs& outputs, const SweepRows& rows, const SweepSummary& summary) {
  const std::string text = Json{
      {"sweep", sweep_hash(rows)},
      {"csv", file_hash(outputs.csv)},
      {"json", file_hash(outputs.json)},
      {"points", summary.points},
      {"failed",
       summary.failed}}.dump();
  // Without the mark a later --resume simulates again, which does no harm.
  static_cast<void>(::setxattr(outputs.csv.c_str(), kAttribute, text.data(), text.size(), 0));
}

std::optional<SweepSummary> finished_before(const SweepOutputs& outputs, const SweepRows& rows) {
  const Json mark = read_mark(outputs.csv);
  const auto is = [&](const char* name, const std::string& value) {
    return !value.empty() && mark.value(name, "") == value;
  };
  try {
    if (mark.is_object() && is("sweep", sweep_hash(rows)) && is("csv", file_hash(outputs.csv)) &&
        (outputs.json.empty() || is("json", file_hash(outputs.json)))) {
      return SweepSummary{mark.at("points").get<std::size_t>(), mark.at("failed").get<std::size_t>(), 0};
    }
  } catch (const Json::exception&) {
    // Somebody else's attribute of that name.
  }
  return std::nullopt;
}

}  // namespace warpscope::experiments

#include "experiments/sweep/finished.hpp"

#include <fmt/format.h>
#include <sys/xattr.h>
#include <xxhash.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>

#include "experiments/store/model_version.hpp"

namespace warpscope::experiments {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr const char* kAttribute = "user.warpscope.sweep";

/// The hash of text that comes in parts, so that outputs of any size take no memory.
class Hash {
 public:
  Hash() : state_(XXH3_createState(), &XXH3_freeState) { XXH3_128bits_reset(state_.get()); }
  void add(std::string_view text) { XXH3_128bits_update(state_.get(), text.data(), text.size()); }
  std::string text() const {
    const XXH128_hash_t value = XXH3_128bits_digest(state_.get());
    return fmt::format("{:016x}{:016x}", value.high64, value.low64);
  }

 private:
  std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state_;
};

/// Everything that decides the outputs.
std::string sweep_hash(const SweepRows& rows) {
  Hash hash;
  hash.add(fmt::format("{}\n{}\n", model_version(), rows.file().header_text()));
  for (std::size_t row = 0; row < rows.rows().size(); ++row) {
    hash.add(fmt::format("{}\n{}{}\n", rows.file().row_text(row), rows.rows()[row].point.key,
                         rows.rows()[row].error));
  }
  return hash.text();
}

/// Of a regular file; nothing for all others.
std::string file_hash(const std::string& path) {
  std::error_code error;
  std::ifstream file(path, std::ios::binary);
  if (!fs::is_regular_file(path, error) || !file) {
    return "";
  }
  Hash hash;
  std::array<char, 1 << 16> part{};
  while (file.read(part.data(), part.size()) || file.gcount() > 0) {
    hash.add({part.data(), static_cast<std::size_t>(file.gcount())});
  }
  return file.bad() ? "" : hash.text();
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

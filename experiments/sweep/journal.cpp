#include "experiments/sweep/journal.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <cerrno>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>

#include "experiments/base/files.hpp"
#include "experiments/base/usage_error.hpp"
#include "model/hw/config_loader.hpp"

namespace warpscope::experiments {

using Json = nlohmann::json;

namespace {

/// Changes with every change of the code: results of another build must not be mixed in.
const std::string& program_hash() {
  static const std::string hash = [] {
    const std::string program = read_file("/proc/self/exe");
    return fmt::format("{:016x}", XXH3_64bits(program.data(), program.size()));
  }();
  return hash;
}

}  // namespace

std::string journal_key(const Point& point) {
  const hw::HwConfig config = hw::load(point.model.gpu, point.model.overrides, config_directory()).config;
  const kernels::Problem& problem = point.problem;
  return fmt::format("{} {} {} b{} h{}/{} q{} k{} d{} c{} {} {} {} {}", program_hash(),
                     hw::content_hash(config), point.kernel, problem.batch, problem.heads, problem.heads_kv,
                     problem.seqlen_q, problem.seqlen_k, problem.head_dim, problem.causal ? 1 : 0,
                     text(problem.dtype), text(problem.pass),
                     point.model.options.mode == gpu::Mode::fast ? "fast" : "detailed",
                     point.model.options.warm_l2 ? "warm" : "cold");
}

Journal::Journal(const std::filesystem::path& output) : path_(output.string() + ".partial") {}

void Journal::load() {
  std::ifstream input(path_, std::ios::binary);
  for (std::string line; std::getline(input, line);) {
    const Json row = Json::parse(line, nullptr, false);
    if (row.is_object() && row.contains("key") && row["key"].is_string() && row.contains("result") &&
        row["result"].is_string()) {
      result_of_[row["key"]] = row["result"];
    }
  }
}

const std::string* Journal::find(const std::string& key) const {
  const auto found = result_of_.find(key);
  return found == result_of_.end() ? nullptr : &found->second;
}

void Journal::open() {
  file_.reset(std::fopen(path_.c_str(), "wb"));
  if (!file_) {
    throw FileError(
        fmt::format("{}: cannot be written: {}", path_.string(), std::generic_category().message(errno)));
  }
  for (const auto& [key, result] : result_of_) {
    write_line(key, result);
  }
}

void Journal::add(const std::string& key, const std::string& result) {
  result_of_[key] = result;
  write_line(key, result);
}

void Journal::remove() {
  file_.reset();
  std::error_code error;
  std::filesystem::remove(path_, error);
}

void Journal::write_line(const std::string& key, const std::string& result) {
  fmt::print(file_.get(), "{}\n",
             Json{{"key", key}, {"result", result}}.dump(-1, ' ', false, Json::error_handler_t::replace));
  std::fflush(file_.get());
}

}  // namespace warpscope::experiments

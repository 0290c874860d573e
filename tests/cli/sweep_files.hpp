// Points files and outputs of sweeps, for the tests.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "experiments/store/model_version.hpp"
#include "experiments/store/result_store.hpp"
#include "tests/cli/program.hpp"

namespace warpscope::cli_test {

inline const std::string kPointsHeader = "impl,pass,batch,heads,seqlen_q,head_dim";

/// A points file of `count` different points that take some milliseconds each.
inline std::string small_points(int count) {
  std::string text = kPointsHeader + '\n';
  for (int i = 0; i < count; ++i) {
    text += (i % 2 == 0 ? "fa2,fwd,1,1," : "fa1,fwd,1,1,") + std::to_string(16 + i) + ",32\n";
  }
  return text;
}

/// Changes one number of every result in a store, as if it had been simulated so.
inline void change_results(const std::filesystem::path& file, const std::string& name, std::int64_t value) {
  using experiments::Database;
  std::vector<std::string> keys;
  {
    const Database database(file, Database::Access::read);
    experiments::Statement rows(database.handle(), "SELECT key FROM points WHERE fate = 0");
    while (rows.step()) {
      keys.push_back(rows.text(0));
    }
  }
  experiments::ResultStore store(file, experiments::ResultStore::Use::go_on, experiments::model_version());
  for (const std::string& key : keys) {
    auto result = nlohmann::json::parse(store.find(key).value().text);
    result[name] = value;
    store.put(key, "", {experiments::Fate::done, result.dump()});
  }
}

/// A sweep of points.csv to out.csv.
inline Arguments sweep_of_points(const Arguments& more = {}) {
  Arguments arguments = {"sweep", "--points", "points.csv", "--gpu", "h200-sxm-141gb", "-o", "out.csv"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

}  // namespace warpscope::cli_test

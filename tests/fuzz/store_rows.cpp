// Rows of a store that is sound as a file: a merge makes a table of them, or says in one line what is wrong.
// The input is the fate of a point in its first line, its text in the others.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "experiments/base/files.hpp"
#include "experiments/base/usage_error.hpp"
#include "experiments/csv/csv.hpp"
#include "experiments/store/model_version.hpp"
#include "experiments/store/result_store.hpp"
#include "experiments/sweep/merge.hpp"
#include "tests/fuzz/scratch_folder.hpp"
#include "tests/fuzz/targets.hpp"

namespace warpscope::fuzz {
namespace {

using namespace experiments;

/// A points file of one row, and a store that knows its point.
class Shard {
 public:
  Shard() {
    options_.points = (folder_.path() / "points.csv").string();
    options_.outputs = {(folder_.path() / "out.csv").string(), (folder_.path() / "out.json").string()};
    options_.stores = {(folder_.path() / "shard.store").string()};
    write_file(options_.points,
               "gpu,kernel,pass,batch,heads,seqlen_q,head_dim\na100-sxm4-80gb,fa2,fwd,1,1,64,64\n");
    const std::string key = SweepRows(options_.points, {}, simulator_).points().front().key;
    ResultStore(options_.stores[0], ResultStore::Use::fresh, model_version()).put(key, "", {Fate::died, ""});
  }

  void put(const std::string& fate, const std::string& text) {
    Database store(options_.stores[0], Database::Access::write);
    store.run("PRAGMA synchronous = OFF");
    Statement(store.handle(), "UPDATE points SET fate = ?, text = ?").bind(1, fate).bind(2, text).run();
  }

  CsvTable merged() {
    merge_stores(options_, simulator_);
    return read_csv(options_.outputs.csv);
  }

 private:
  ScratchFolder folder_;
  PointSimulator simulator_;
  MergeOptions options_;
};

}  // namespace

bool store_rows(std::string_view input) {
  static Shard shard;
  const std::size_t end = std::min(input.find('\n'), input.size());
  shard.put(std::string(input.substr(0, end)), std::string(input.substr(std::min(end + 1, input.size()))));
  try {
    require(shard.merged().rows.size() == 1, "the row is not one row");
    return true;
  } catch (const UsageError& error) {
    require_one_line(error.what());
  } catch (const nlohmann::json::exception& error) {  // the text is no result
    require_one_line(error.what());
  }
  return false;
}

}  // namespace warpscope::fuzz

// Files taken for stores of results: they are refused with one line that names the file, or work.
#include "experiments/base/usage_error.hpp"
#include "experiments/store/result_store.hpp"
#include "tests/fuzz/scratch_folder.hpp"
#include "tests/fuzz/targets.hpp"

namespace warpscope::fuzz {
namespace {

using namespace experiments;
using Use = ResultStore::Use;

const Outcome kOutcome{Fate::done, "{}"};

bool use(const std::filesystem::path& file, Use use) {
  try {
    ResultStore store(file, use, "v1");
    store.size();
    store.find("a");
    if (use != Use::read_only) {
      store.put("a", "point", kOutcome);
      require(store.find("a") == kOutcome, "what was put is not there");
    }
  } catch (const FileError& error) {
    require_one_line(error.what());
    require(std::string_view(error.what()).starts_with(file.string() + ":"), error.what());
    return false;
  }
  return true;
}

}  // namespace

bool store_file(std::string_view input) {
  static const ScratchFolder folder;
  const bool readable = use(folder.only("fuzz.store", input), Use::read_only);
  return use(folder.only("fuzz.store", input), Use::go_on) || readable;
}

}  // namespace warpscope::fuzz

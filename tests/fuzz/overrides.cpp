// --set KEY=VALUE, one a line: what is taken shows in the configuration, what is not is one line each.
#include "tests/fuzz/stock_gpu.hpp"
#include "tests/fuzz/targets.hpp"
#include "tests/fuzz/words.hpp"

namespace warpscope::fuzz {

bool overrides(std::string_view input) {
  const std::vector<std::string> words = pieces(input, '\n');
  try {
    const hw::HwConfig config = stock_gpu("h200-sxm-141gb", words);
    require(hw::content_hash(config).size() == 32, "no hash");
  } catch (const hw::ConfigError& error) {
    require(!error.problems().empty(), "refused without a reason");
    for (const std::string& problem : error.problems()) {
      require_one_line(problem);
    }
    return false;
  }
  return true;
}

}  // namespace warpscope::fuzz

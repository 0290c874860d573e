#include "experiments/base/data_directory.hpp"

#include <system_error>

namespace warpscope::experiments {

namespace fs = std::filesystem;

fs::path data_directory(std::string_view name, std::string_view in_source_tree) {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  const fs::path installed = program.parent_path().parent_path() / "share/warpscope" / name;
  return !error && fs::is_directory(installed, error) ? installed
                                                      : fs::path(WARPSCOPE_SOURCE_DIR) / in_source_tree;
}

}  // namespace warpscope::experiments

// Where the files are that the program reads by itself.
#pragma once

#include <filesystem>
#include <string_view>

namespace warpscope::experiments {

/// Beside an installed program ../share/warpscope/`name`, else `in_source_tree`, a folder of the tree that
/// the program was built from.
std::filesystem::path data_directory(std::string_view name, std::string_view in_source_tree);

}  // namespace warpscope::experiments

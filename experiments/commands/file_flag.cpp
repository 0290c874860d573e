#include "experiments/commands/file_flag.hpp"

namespace warpscope::experiments {

CLI::Option* add_file_flag(CLI::App& app, const std::string& name, std::string& file,
                           const std::string& help) {
  const auto refuse_empty = [](const std::string& value) {
    return value.empty() ? std::string("'' is no name of a file") : std::string();
  };
  return app.add_option(name, file, help)->type_name("FILE")->check(refuse_empty);
}

}  // namespace warpscope::experiments

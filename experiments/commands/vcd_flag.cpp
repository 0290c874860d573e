#include "experiments/commands/vcd_flag.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <vector>

#include "experiments/base/files.hpp"
#include "experiments/base/usage_error.hpp"
#include "experiments/commands/file_flag.hpp"

namespace warpscope::experiments {

VcdDraft::VcdDraft() {
  std::string name = (std::filesystem::temp_directory_path() / "warpscope-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) {
    throw FileError(fmt::format("{}: cannot be made: {}", name, std::strerror(errno)));
  }
  directory_ = name;
}

VcdDraft::~VcdDraft() {
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
}

void VcdDraft::write_to(const std::filesystem::path& path) const {
  constexpr std::size_t kPart = std::size_t{1} << 20;
  std::ifstream draft(file(), std::ios::binary);
  PendingFile pending(path);
  std::string part(kPart, '\0');
  while (draft.read(part.data(), kPart) || draft.gcount() > 0) {
    pending.write({part.data(), static_cast<std::size_t>(draft.gcount())});
  }
  pending.commit();
}

void VcdFlag::add_to(CLI::App& app) {
  add_file_flag(app, "--vcd", file_,
                "trace SMs, L2, HBM and dispatcher as signals,\n"
                "for GTKWave; runs in detailed mode");
}

void VcdFlag::check() const {
  if (file_ == "-") {
    throw UsageError("--vcd '-': is a file's name here; standard output has the report");
  }
}

}  // namespace warpscope::experiments

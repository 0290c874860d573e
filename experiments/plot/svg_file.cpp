#include "experiments/plot/svg_file.hpp"

#include <fmt/format.h>
#include <stdlib.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "experiments/base/files.hpp"
#include "experiments/base/printable.hpp"
#include "experiments/base/usage_error.hpp"
#include "experiments/plot/gnuplot.hpp"

namespace warpscope::experiments {
namespace {

namespace fs = std::filesystem;

/// A folder that goes with the object.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string name = fs::temp_directory_path() / "warpscope-chart-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) {
      throw FileError(fmt::format("{}: cannot be made: {}", name, std::generic_category().message(errno)));
    }
    path_ = name;
  }
  ~ScratchFolder() {
    std::error_code error;
    fs::remove_all(path_, error);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

}  // namespace

void check_svg_file(const std::string& flag, const std::string& file) {
  if (!file.ends_with(".svg")) {
    throw UsageError(
        fmt::format("{} {}: charts are SVG; legal is a name that ends in .svg", flag, in_quotes(file)));
  }
  check_writable(file);
  require_gnuplot();
}

void write_svg_file(const LineChart& chart, const std::string& file) {
  const ScratchFolder folder;
  draw(chart, folder.path() / "chart");
  write_file(file, read_file(folder.path() / "chart.svg"));
}

}  // namespace warpscope::experiments

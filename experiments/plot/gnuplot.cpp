#include "experiments/plot/gnuplot.hpp"

#include <fmt/format.h>

#include <boost/process/args.hpp>
#include <boost/process/child.hpp>
#include <boost/process/error.hpp>
#include <boost/process/exe.hpp>
#include <boost/process/io.hpp>
#include <boost/process/start_dir.hpp>
#include <filesystem>
#include <system_error>

#include "experiments/base/usage_error.hpp"

namespace warpscope::experiments {
namespace {

namespace process = boost::process;

/// Exit status of `gnuplot argument` run in `directory`, standard output discarded.
int gnuplot_status(const std::string& argument, const std::string& directory) {
  constexpr int kNotFound = 127;
  std::error_code error;
  // env looks for the program; Boost's own search would need a library beyond its headers.
  process::child gnuplot(process::exe = "/usr/bin/env", process::args = {"gnuplot", argument},
                         process::start_dir = directory, process::std_out > process::null, error);
  if (!error) {
    gnuplot.wait(error);
  }
  if (error) {
    throw UsageError(fmt::format("gnuplot: {}", error.message()));
  }
  if (gnuplot.exit_code() == kNotFound) {
    throw UsageError("gnuplot is missing; on Debian: apt-get install gnuplot-nox");
  }
  return gnuplot.exit_code();
}

}  // namespace

void require_gnuplot() {
  if (gnuplot_status("--version", "/") != 0) {
    throw UsageError("gnuplot does not start");
  }
}

void run_gnuplot(const std::string& script) {
  const std::filesystem::path path(script);
  const std::string directory = path.has_parent_path() ? path.parent_path().string() : ".";
  if (gnuplot_status(path.filename().string(), directory) != 0) {
    throw UsageError(fmt::format("{}: gnuplot could not draw it", script));
  }
}

}  // namespace warpscope::experiments

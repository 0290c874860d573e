// `warpscope plot`: a chart of two columns of a CSV file.
#include <fmt/format.h>

#include <array>
#include <memory>

#include "experiments/base/named_files.hpp"
#include "experiments/base/output.hpp"
#include "experiments/commands/command.hpp"
#include "experiments/commands/file_flag.hpp"
#include "experiments/plot/csv_points.hpp"
#include "experiments/plot/svg_file.hpp"

namespace warpscope::experiments {
namespace {

struct PlotFlags {
  std::string file;
  std::string output;
  ChartColumns columns;
};

/// What a number of things is called.
std::string counted(std::size_t count, const std::string& what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

Status plot_command(const PlotFlags& flags) {
  check_apart(std::array{NamedFile{"FILE", flags.file}}, std::array{NamedFile{"-o", flags.output}});
  const CsvPoints data = csv_points(read_csv(flags.file), flags.columns);
  check_svg_file("-o", flags.output);
  write_svg_file(xy_chart(fmt::format("{} over {}", flags.columns.y, flags.columns.x), flags.columns.x,
                          flags.columns.y, data.points, flags.file),
                 flags.output);
  std::string text = fmt::format("{}: {} in {}\n", flags.output, counted(data.points.size(), "point"),
                                 counted(data.lines, "line"));
  if (data.failed_rows > 0) {
    text += fmt::format("left out: {} with a model_error\n", counted(data.failed_rows, "row"));
  }
  if (data.crowded > 0) {
    text += fmt::format("{} share a line and an x with others; one more --by may tell them apart\n",
                        counted(data.crowded, "point"));
  }
  print_output(text);
  return Status::done;
}

}  // namespace

void add_plot_command(CLI::App& app, Action& action) {
  CLI::App* verb = app.add_subcommand("plot", "Draw a column of a CSV file over another");
  const auto flags = std::make_shared<PlotFlags>();
  verb->add_option("FILE", flags->file, "CSV file, as `sweep` and `run --csv` write it")->required();
  verb->add_option("--x", flags->columns.x, "column for the x axis")->type_name("COLUMN")->required();
  verb->add_option("--y", flags->columns.y, "column for the y axis")->type_name("COLUMN")->required();
  verb->add_option("--by", flags->columns.by, "a line for each value of this column; may be repeated")
      ->type_name("COLUMN")
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all();
  add_file_flag(*verb, "-o,--output", flags->output, "SVG file to write")->required();
  verb->callback([flags, &action] { action = [flags] { return plot_command(*flags); }; });
}

}  // namespace warpscope::experiments

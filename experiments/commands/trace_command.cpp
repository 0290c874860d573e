// `warpscope trace`: traces as text.
#include <fmt/format.h>

#include <array>
#include <memory>

#include "experiments/base/files.hpp"
#include "experiments/base/named_files.hpp"
#include "experiments/base/output.hpp"
#include "experiments/commands/command.hpp"
#include "experiments/commands/file_flag.hpp"
#include "experiments/commands/problem_flags.hpp"
#include "experiments/point/run.hpp"
#include "model/hw/config_loader.hpp"
#include "model/trace/statistics.hpp"
#include "model/trace/text_reader.hpp"
#include "model/trace/text_writer.hpp"

namespace warpscope::experiments {
namespace {

struct DumpFlags {
  ModelFlags model;
  ProblemFlags problem;
  std::string output;
};

Status dump(const DumpFlags& flags) {
  flags.model.require_gpu();
  const bool to_file = names_file(flags.output);
  if (to_file) {
    check_apart(flags.model.files(), std::array{NamedFile{"-o", flags.output}});
    check_writable(flags.output);
  }
  const Point point = flags.problem.read(flags.model.read());
  const hw::HwConfig config = hw::load(point.model.gpu, point.model.overrides, config_directory()).config;
  const std::string text =
      trace::to_text(kernels::find_kernel(point.kernel).build(point.problem, limits_of(config)));
  if (to_file) {
    write_file(flags.output, text);
  } else {
    print_output(text);
  }
  return Status::done;
}

Status check(const std::string& file) {
  const trace::Trace trace = trace::read_text_file(file);
  std::uint64_t ctas = 0;
  for (const trace::Launch& launch : trace.launches) {
    ctas += trace::cta_count(launch);
  }
  print_output(fmt::format("{}: fine; {} tensors, {} launches, {} CTAs, {} warp instructions\n", file,
                           trace.tensors.size(), trace.launches.size(), ctas,
                           trace::total(trace::executed_instructions(trace))));
  return Status::done;
}

}  // namespace

void add_trace_command(CLI::App& app, Action& action) {
  CLI::App* verb = app.add_subcommand("trace", "Write the trace of a kernel, or check a trace file");
  verb->require_subcommand(1);

  CLI::App* dumped = verb->add_subcommand("dump", "Print the instructions of a kernel as text");
  const auto flags = std::make_shared<DumpFlags>();
  flags->problem.add_to(*dumped);
  flags->model.add_to(*dumped);
  add_file_flag(*dumped, "-o,--output", flags->output, "write to FILE instead of standard output");
  dumped->callback([flags, &action] { action = [flags] { return dump(*flags); }; });

  CLI::App* checked = verb->add_subcommand("check", "Report the first mistake in a trace file");
  const auto file = std::make_shared<std::string>();
  checked->add_option("FILE", *file, "trace file, see model/trace/FORMAT.md")->required();
  checked->callback([file, &action] { action = [file] { return check(*file); }; });
}

}  // namespace warpscope::experiments

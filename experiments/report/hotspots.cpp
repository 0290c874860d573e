#include "experiments/report/hotspots.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "experiments/base/text_table.hpp"
#include "experiments/report/units.hpp"

namespace warpscope::experiments {
namespace {

using Align = TextTable::Align;
using Json = nlohmann::ordered_json;
using metrics::InstructionCycles;
using metrics::Stall;

constexpr const char* kControlFlow = "control flow";

std::string operation_of(const trace::WarpProgram& program, const trace::Instruction& instruction) {
  return instruction.operation == 0 ? kControlFlow
                                    : program.operations[instruction.operation - std::size_t{1}];
}

InstructionCycles sum(const std::vector<InstructionCycles>& counts) {
  InstructionCycles total;
  for (const InstructionCycles& instruction : counts) {
    total.add(instruction);
  }
  return total;
}

double ratio(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

/// The reason that takes most of the cycles in which nothing issued, with its share of all.
std::string main_wait(const InstructionCycles& counts) {
  std::size_t most = static_cast<std::size_t>(Stall::wait);
  for (std::size_t i = 0; i < counts.cycles.size(); ++i) {
    if (i != static_cast<std::size_t>(Stall::selected) && counts.cycles[i] > counts.cycles[most]) {
      most = i;
    }
  }
  return counts.cycles[most] == 0 ? ""
                                  : fmt::format("{} {:.0f} %", metrics::name(static_cast<Stall>(most)),
                                                100 * ratio(counts.cycles[most], counts.all()));
}

/// Issues, their share, the share of warp cycles, what they wait for.
std::vector<std::string> cells(const InstructionCycles& counts, const InstructionCycles& total) {
  return {grouped(static_cast<std::int64_t>(counts.issued())),
          percent(ratio(counts.issued(), total.issued())), percent(ratio(counts.all(), total.all())),
          main_wait(counts)};
}

const std::vector<TextTable::Column> kCounts = {
    {"issued"}, {"share"}, {"cycles"}, {"waits most for", Align::left}};

void add_row(TextTable& table, std::vector<std::string> names, const InstructionCycles& counts,
             const InstructionCycles& total) {
  std::ranges::move(cells(counts, total), std::back_inserter(names));
  table.add_row(std::move(names));
}

TextTable make_table(std::vector<TextTable::Column> columns) {
  columns.insert(columns.end(), kCounts.begin(), kCounts.end());
  return TextTable(std::move(columns));
}

std::string operation_table(const trace::WarpProgram& program, const std::vector<InstructionCycles>& counts) {
  TextTable table = make_table({{"Operation", Align::left}});
  const InstructionCycles total = sum(counts);
  for (const OperationRow& row : operation_rows(program, counts)) {
    add_row(table, {row.operation}, row.counts, total);
  }
  table.add_rule();
  add_row(table, {"all"}, total, total);
  return table.text();
}

/// How many loops are around an instruction.
std::size_t depth_of(const trace::WarpProgram& program, std::size_t number) {
  return static_cast<std::size_t>(std::ranges::count_if(
      program.loops, [&](const trace::Loop& loop) { return loop.begin <= number && number < loop.end; }));
}

std::string instruction_table(const trace::WarpProgram& program,
                              const std::vector<InstructionCycles>& counts) {
  TextTable table = make_table({{"#"}, {"Instruction", Align::left}, {"Operation", Align::left}});
  const InstructionCycles total = sum(counts);
  bool outside = false;
  for (std::size_t i = 0; i < program.code.size(); ++i) {
    const std::size_t depth = depth_of(program, i);
    if (depth == 0 || counts[i].all() == 0) {
      outside = true;
      continue;
    }
    if (std::exchange(outside, false)) {
      table.add_rule();
    }
    const trace::Instruction& instruction = program.code[i];
    add_row(table,
            {std::to_string(i), std::string(depth - 1, ' ').append(trace::info(instruction.opcode).name),
             operation_of(program, instruction)},
            counts[i], total);
  }
  return table.text();
}

Json counts_json(const InstructionCycles& counts) {
  Json stalls = Json::object();
  for (std::size_t i = 0; i < counts.cycles.size(); ++i) {
    if (counts.cycles[i] > 0) {
      stalls[metrics::name(static_cast<Stall>(i))] = counts.cycles[i];
    }
  }
  return {{"issued", counts.issued()}, {"warp_cycles", counts.all()}, {"stalls", std::move(stalls)}};
}

Json program_json(const trace::WarpProgram& program, const std::vector<InstructionCycles>& counts) {
  Json json = {{"program", program.name}};
  json["operations"] = Json::array();
  for (const OperationRow& row : operation_rows(program, counts)) {
    json["operations"].push_back({{"operation", row.operation}});
    json["operations"].back().update(counts_json(row.counts));
  }
  json["instructions"] = Json::array();
  for (std::size_t i = 0; i < program.code.size(); ++i) {
    json["instructions"].push_back({{"number", i},
                                    {"opcode", trace::info(program.code[i].opcode).name},
                                    {"operation", operation_of(program, program.code[i])},
                                    {"loops", depth_of(program, i)}});
    json["instructions"].back().update(counts_json(counts[i]));
  }
  return json;
}

}  // namespace

std::vector<OperationRow> operation_rows(const trace::WarpProgram& program,
                                         const std::vector<InstructionCycles>& counts) {
  std::vector<OperationRow> rows;
  for (std::size_t i = 0; i < program.code.size(); ++i) {
    const std::string operation = operation_of(program, program.code[i]);
    auto row = std::ranges::find(rows, operation, &OperationRow::operation);
    if (row == rows.end()) {
      row = rows.insert(rows.end(), {operation, {}});
    }
    row->counts.add(counts[i]);
  }
  std::erase_if(rows, [](const OperationRow& row) { return row.counts.all() == 0; });
  std::ranges::stable_sort(rows, std::greater<>{}, [](const OperationRow& row) { return row.counts.all(); });
  return rows;
}

std::string hotspots_text(const Run& run, const std::vector<metrics::LaunchProfile>& launches,
                          bool instructions) {
  std::string page = fmt::format("{} on {}: {}, {} cycles, every warp instruction executed\n",
                                 run.point ? run.point->kernel : run.trace_file, run.config.gpu.name,
                                 time_text(run.result.time_us), grouped(run.result.cycles));
  page += "Cycles are those of warps: the one in which they issue, and waits before it.\n";
  for (const metrics::LaunchProfile& launch : launches) {
    for (std::size_t p = 0; p < launch.programs.size(); ++p) {
      if (sum(launch.counts[p]).all() == 0) {
        continue;  // a program of CTAs that this problem does not have
      }
      page += fmt::format("\nLaunch {}, program {}\n", launch.name, launch.programs[p].name);
      page += operation_table(launch.programs[p], launch.counts[p]);
      if (instructions) {
        page += "\nInstructions in loops\n" + instruction_table(launch.programs[p], launch.counts[p]);
      }
    }
  }
  return page;
}

Json hotspots_json(const std::vector<metrics::LaunchProfile>& launches) {
  Json json = Json::array();
  for (const metrics::LaunchProfile& launch : launches) {
    json.push_back({{"launch", launch.name}, {"programs", Json::array()}});
    for (std::size_t p = 0; p < launch.programs.size(); ++p) {
      json.back()["programs"].push_back(program_json(launch.programs[p], launch.counts[p]));
    }
  }
  return json;
}

}  // namespace warpscope::experiments

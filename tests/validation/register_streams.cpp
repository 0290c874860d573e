#include "tests/validation/register_streams.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <stdexcept>
#include <utility>

#include "experiments/csv/csv.hpp"
#include "tests/validation/program_builder.hpp"

namespace warpscope::validation {
namespace {

using trace::Instruction;
using trace::Opcode;
using trace::RegisterRange;

constexpr std::uint32_t kTrips = 20;
constexpr std::size_t kInstructions = 120;  ///< of the shorter program, about

struct Kind {
  std::string_view name;
  Opcode opcode;
  std::array<std::uint8_t, 4> widths;  ///< registers of destination, A, B and C
  std::uint32_t shared_bytes = 0;
};

constexpr std::array kKinds = {
    Kind{"FFMA", Opcode::FFMA, {1, 1, 1, 1}},           Kind{"FADD", Opcode::FADD, {1, 1, 1, 1}},
    Kind{"FMUL", Opcode::FMUL, {1, 1, 1, 1}},           Kind{"FMNMX", Opcode::FMNMX, {1, 1, 1, 1}},
    Kind{"IADD3", Opcode::IADD3, {1, 1, 1, 1}},         Kind{"IMAD", Opcode::IMAD, {1, 1, 1, 1}},
    Kind{"LOP3", Opcode::LOP3, {1, 1, 1, 1}},           Kind{"F2FP", Opcode::F2FP_PACK_AB, {1, 1, 1, 1}},
    Kind{"MUFU", Opcode::MUFU_EX2, {1, 1, 1, 1}},       Kind{"SHFL", Opcode::SHFL_BFLY, {1, 1, 1, 1}},
    Kind{"CS2R", Opcode::CS2R, {2, 0, 0, 0}},           Kind{"NOP", Opcode::NOP, {1, 1, 1, 1}},
    Kind{"HMMA", Opcode::HMMA_16816_F32, {4, 4, 2, 4}}, Kind{"HMMA8", Opcode::HMMA_1688_F32, {4, 2, 1, 4}},
    Kind{"LDSM", Opcode::LDSM_X4, {4, 1, 1, 1}, 512},   Kind{"STS", Opcode::STS_32, {1, 1, 1, 1}, 128},
    Kind{"STS128", Opcode::STS_128, {1, 1, 4, 1}, 512},
};

const Kind& find_kind(std::string_view name) {
  const auto* const found = std::ranges::find(kKinds, name, &Kind::name);
  if (found == kKinds.end()) {
    throw std::invalid_argument(fmt::format("instruction '{}' of a stream is not known", name));
  }
  return *found;
}

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(at, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

/// An operand as the row has it: `64`, `64r`, `z` or nothing.
struct Operand {
  int number = -1;  ///< -1: no register
  bool reuse = false;
};

struct Token {
  const Kind* kind = nullptr;
  std::array<Operand, 4> operands;
  int stall = 1;
};

Operand operand(std::string_view text) {
  Operand result;
  result.reuse = text.ends_with('r');
  const std::string number(text.substr(0, text.size() - (result.reuse ? 1 : 0)));
  if (!number.empty() && number != "z") {
    result.number = std::stoi(number);
  }
  return result;
}

/// `FFMA(40,64,66r,68):1`, or `NOP:11`.
Token token(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  const std::size_t open = std::min(text.find('('), colon);
  Token result;
  result.kind = &find_kind(text.substr(0, open));
  result.stall = std::stoi(std::string(text.substr(colon + 1)));
  if (open < colon) {
    std::size_t place = 0;
    for (const std::string_view part : split(text.substr(open + 1, colon - open - 2), ',')) {
      if (part.starts_with("sb") || part.starts_with("rb") || part.starts_with("wt")) {
        continue;  // scoreboards, which nothing in most rows waits for
      }
      if (place == result.operands.size()) {
        throw std::invalid_argument(fmt::format("'{}' has more than four operands", text));
      }
      result.operands[place++] = operand(part);
    }
  }
  return result;
}

std::vector<Token> tokens_of(std::string_view stream) {
  std::vector<Token> tokens;
  for (const std::string_view part : split(stream, ' ')) {
    tokens.push_back(token(part));
  }
  return tokens;
}

/// The instructions of issue_turns.csv: `#` is a register that goes round. What they read is in
/// issue_turns.md.
struct TurnKind {
  std::string_view name;
  std::string_view text;
  int registers_apart = 2;
  int first = 110;
  int rounds = 4;
};
constexpr std::array kTurnKinds = {
    TurnKind{"HMMA", "HMMA(#,96,100,#)", 4, 40, 8},
    TurnKind{"HMMA.a", "HMMA(#,96r,100,#)", 4, 40, 8},
    TurnKind{"HMMA.ab", "HMMA(#,96r,100r,#)", 4, 40, 8},
    TurnKind{"CLOCK", "CS2R(110)"},
    TurnKind{"FADD", "FADD(#,120,121)"},
    TurnKind{"FADD.2", "FADD(#,120,122)"},
    TurnKind{"FFMA.3", "FFMA(#,120,122,124)"},
    TurnKind{"FMNMX", "FMNMX(#,120,121)"},
    TurnKind{"MUFU", "MUFU(#,120)"},
    TurnKind{"F2FP", "F2FP(#,120,121)"},
    TurnKind{"NOP", "NOP"},
};

/// `stream` as often as it fits into kInstructionsOfTurns, then NOPs. "FADD:2*4" is four of them.
std::vector<Token> turns_tokens(std::string_view stream) {
  struct Part {
    const TurnKind* kind;
    std::string_view stall;
  };
  std::vector<Part> parts;
  for (const std::string_view part : split(stream, ' ')) {
    const std::size_t colon = part.find(':');
    const std::size_t star = std::min(part.find('*'), part.size());
    const auto* const kind = std::ranges::find(kTurnKinds, part.substr(0, colon), &TurnKind::name);
    if (kind == kTurnKinds.end()) {
      throw std::invalid_argument(fmt::format("instruction '{}' of a stream is not known", part));
    }
    const int times = star == part.size() ? 1 : std::stoi(std::string(part.substr(star + 1)));
    parts.insert(parts.end(), static_cast<std::size_t>(times), {kind, part.substr(colon, star - colon)});
  }
  const std::size_t full = kInstructionsOfTurns / parts.size() * parts.size();
  std::vector<Token> tokens;
  int products = 0;
  int others = 0;
  for (std::size_t i = 0; i < kInstructionsOfTurns; ++i) {
    const Part& part = parts[i % parts.size()];
    if (i >= full) {
      tokens.push_back(token("NOP:1"));
      continue;
    }
    std::string text(part.kind->text);
    int& count = part.kind->name.starts_with("HMMA") ? products : others;
    const int number = part.kind->first + part.kind->registers_apart * (count++ % part.kind->rounds);
    for (std::size_t at = text.find('#'); at != std::string::npos; at = text.find('#')) {
      text.replace(at, 1, std::to_string(number));
    }
    tokens.push_back(token(text + std::string(part.stall)));
  }
  return tokens;
}

/// Registers at hand, by place, and which of them the row has flagged.
struct Slots {
  std::array<Operand, 4> last;
  /// The number to give to `wanted` in `place`: another one of its bank if it would be at hand unflagged.
  int number(std::size_t place, const Operand& wanted) const {
    constexpr int kOthers = 512;
    const Operand& before = last[place];
    return wanted.number == before.number % kOthers && !before.reuse && before.number < kOthers
               ? wanted.number + kOthers
               : wanted.number;
  }
};

class StreamWriter {
 public:
  trace::WarpProgram write(const std::vector<Token>& tokens, std::size_t repeats) {
    trace::Loop loop;
    loop.begin = 0;
    for (std::size_t i = 0; i < repeats; ++i) {
      std::ranges::for_each(tokens, [this](const Token& one) { append(one); });
    }
    Instruction branch;
    branch.opcode = Opcode::BRA;
    branch.has_control = true;
    program_.code.push_back(branch);
    loop.end = static_cast<std::uint32_t>(program_.code.size());
    program_.loops.push_back(loop);
    program_.code.emplace_back().opcode = Opcode::EXIT;
    program_.code.back().has_control = true;
    program_.name = "stream";
    return std::move(program_);
  }

 private:
  void append(const Token& token) {
    const bool product = trace::info(token.kind->opcode).pipe == trace::Pipe::tensor;
    Slots& slots = product ? products_ : others_;
    Instruction instruction;
    instruction.opcode = token.kind->opcode;
    instruction.has_control = true;
    instruction.control.stall_cycles = static_cast<std::uint8_t>(token.stall);
    std::array<Operand, 4> read;
    for (std::size_t place = 0; place < 4; ++place) {
      const Operand& given = token.operands[place];
      if (given.number < 0) {
        continue;
      }
      const int number = place == 0 ? given.number : slots.number(place, given);
      const RegisterRange range = reg(number, token.kind->widths[place]);
      (place == 0 ? instruction.destination : instruction.sources[place - 1]) = range;
      read[place] = {number, given.reuse};
    }
    slots.last = read;
    if (token.kind->shared_bytes > 0) {
      instruction.memory = static_cast<std::uint32_t>(program_.memory_operands.size());
      trace::MemoryOperand shared;
      shared.bytes = token.kind->shared_bytes;
      shared.wavefronts = static_cast<std::uint16_t>(shared.bytes / 128);
      program_.memory_operands.push_back(shared);
    }
    program_.code.push_back(instruction);
  }

  trace::WarpProgram program_;
  Slots products_;
  Slots others_;
};

std::size_t repeats_of(std::size_t tokens) {
  return std::max<std::size_t>(1, kInstructions / tokens);
}

}  // namespace

std::vector<RegisterStream> load_register_streams(const std::string& file, int one_of) {
  std::vector<RegisterStream> result;
  int row_number = 0;
  for (const experiments::CsvRecord& row : experiments::read_csv(file).rows) {
    if (row.fields[0] == "loop" && row_number++ % one_of == 0) {
      result.push_back({std::stoi(row.fields[1]), std::stod(row.fields[2]), row.fields[3]});
    }
  }
  return result;
}

std::vector<IssueTurns> load_issue_turns(const std::string& file) {
  const experiments::CsvTable table = experiments::read_csv(file);
  std::vector<IssueTurns> result;
  for (const experiments::CsvRecord& row : table.rows) {
    IssueTurns& turns = result.emplace_back();
    turns.is_drawn = row.fields[table.column("group")] == "drawn";
    turns.streams = {row.fields[table.column("older_stream")], row.fields[table.column("younger_stream")]};
    for (const std::size_t i : {0U, 1U}) {
      const std::string& cycles = row.fields[table.column(i == 0 ? "older_cycles" : "younger_cycles")];
      turns.cycles[i] = cycles.empty() ? std::nullopt : std::optional(std::stod(cycles));
    }
  }
  return result;
}

trace::Trace turns_trace(const IssueTurns& row) {
  constexpr std::uint32_t kRounds = 12;
  trace::Trace result;
  for (const std::string& stream : row.streams) {
    trace::WarpProgram program = StreamWriter().write(turns_tokens(stream), 1);
    program.name = result.launches.empty() ? "older" : "younger";
    trace::Launch one = make_launch("turns", 2, 4, program, kRounds);
    if (result.launches.empty()) {
      result.launches.push_back(std::move(one));
      continue;
    }
    std::ranges::fill(one.classes[0].program_of_warp, std::uint16_t{1});
    result.launches[0].programs.push_back(program);
    result.launches[0].classes.push_back(one.classes[0]);
  }
  result.launches[0].class_of_block[0] = {0, 1};
  return result;
}

trace::Trace stream_trace(const RegisterStream& row) {
  const std::vector<Token> tokens = tokens_of(row.stream);
  trace::Trace result;
  for (const std::size_t times : {2U, 1U}) {
    const trace::WarpProgram program = StreamWriter().write(tokens, times * repeats_of(tokens.size()));
    result.launches.push_back(
        make_launch("stream", 1, static_cast<std::uint32_t>(4 * row.warps_per_sub_core), program, kTrips));
  }
  return result;
}

double cycles_of_stream(const RegisterStream& row, double twice, double once) {
  const std::size_t tokens = split(row.stream, ' ').size();
  return (twice - once) / kTrips / static_cast<double>(repeats_of(tokens));
}

}  // namespace warpscope::validation

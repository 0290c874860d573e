#include "tests/unit/trace_random.hpp"

#include <array>
#include <string>

namespace warpscope::trace {
namespace {

/// The product of two of them still reaches no farther than a trace may.
constexpr std::array kExtremes = {std::int64_t{-1} << 22, std::int64_t{1} << 22, std::int64_t{-1},
                                  std::int64_t{1}};

class TraceMaker {
 public:
  explicit TraceMaker(std::uint64_t seed) : random_(seed) {}

  Trace make() {
    make_tensors();
    const std::int64_t launches = random_.between(1, 3);
    for (std::int64_t l = 0; l < launches; ++l) {
      trace_.launches.push_back(make_launch());
    }
    return std::move(trace_);
  }

 private:
  template <typename T>
  T pick(std::int64_t least, std::int64_t most) {
    return static_cast<T>(random_.between(least, most));
  }

  void make_tensors() {
    trace_.tensors.push_back({"spills", TensorKind::local, 1, 4096});
    trace_.tensors.push_back({"shared", TensorKind::input, 3, 1});  // must be quoted
    trace_.tensors.push_back({"a \"b\"\\\n#\x80", TensorKind::output, 1, std::int64_t{1} << 47});
    const auto interleaved_segments = pick<std::int64_t>(1, 4);
    trace_.tensors.push_back({.name = "scratch_1.x",
                              .kind = TensorKind::scratch,
                              .segments = interleaved_segments * pick<std::int64_t>(1, 9),
                              .segment_bytes = 77,
                              .interleaved_segments = interleaved_segments,
                              .line_segments = pick<std::int64_t>(1, 4)});
  }

  std::int64_t factor() {
    return random_.one_in(8) ? kExtremes[pick<std::size_t>(0, 3)] : random_.between(-9, 9);
  }

  AffineIndex make_index(std::size_t depth) {
    AffineIndex index;
    index.offset = random_.one_in(2) ? factor() : 0;
    for (std::size_t d = 0; d < 3; ++d) {
      index.per_block[d] = random_.one_in(3) ? factor() : 0;
      index.block_divisor[d] = random_.one_in(4) ? pick<std::int32_t>(1, 0x7fffffff) : 1;
    }
    index.per_warp = random_.one_in(3) ? factor() : 0;
    for (std::size_t k = 0; k < depth; ++k) {
      index.per_iteration[k] = random_.one_in(2) ? factor() : 0;
    }
    if (random_.one_in(3)) {
      index.symbol = pick<std::int16_t>(0, 2);
      index.per_symbol = factor();
      index.symbol_table = depth == 0 && random_.one_in(3);  // one entry is enough outside of loops
    }
    return index;
  }

  RegisterRange make_range() {
    if (random_.one_in(3)) {
      return {};
    }
    if (random_.one_in(4)) {
      return {static_cast<std::uint16_t>(kFirstPredicate + random_.between(0, 12)), pick<std::uint8_t>(0, 3)};
    }
    return {pick<std::uint16_t>(0, 3000), pick<std::uint8_t>(0, 255)};
  }

  void make_memory(WarpProgram& program, Instruction& instruction, std::size_t depth) {
    const OpClass op_class = info(instruction.opcode).op_class;
    const bool shared = is_shared_memory(op_class);
    if (!shared && !is_global_memory(op_class)) {
      return;
    }
    MemoryOperand operand;
    if (shared) {
      operand.wavefronts = pick<std::uint16_t>(1, 128);
    } else if (op_class == OpClass::local_load || op_class == OpClass::local_store) {
      operand.tensor = 0;
      operand.segment = make_index(depth);
    } else {
      operand.tensor = pick<std::uint16_t>(1, 3);
      operand.segment = make_index(depth);
      operand.wavefronts = random_.one_in(3) ? pick<std::uint16_t>(1, 128) : std::uint16_t{0};
      operand.lines = random_.one_in(3) ? pick<std::uint16_t>(1, 32) : std::uint16_t{0};
    }
    operand.offset = make_index(depth);
    operand.bytes = pick<std::uint32_t>(0, 64) * 16;
    // Some entries are never used, some are used again by a like instruction at the same place.
    for (std::int64_t n = random_.one_in(6) ? 2 : 1; n > 0; --n) {
      program.memory_operands.push_back(operand);
    }
    instruction.memory = static_cast<std::uint32_t>(program.memory_operands.size() - 1);
  }

  void add_instruction(WarpProgram& program, std::size_t depth) {
    Instruction instruction;
    do {
      instruction.opcode =
          static_cast<Opcode>(random_.between(0, static_cast<std::int64_t>(all_opcodes().size()) - 1));
    } while (instruction.opcode == Opcode::EXIT || instruction.opcode == Opcode::BAR_SYNC);
    instruction.destination = make_range();
    for (RegisterRange& source : instruction.sources) {
      source = make_range();
    }
    if (random_.one_in(2)) {
      instruction.has_control = true;
      instruction.control = {
          pick<std::uint8_t>(1, 15), random_.one_in(2) ? kNoScoreboard : pick<std::uint8_t>(0, 5),
          random_.one_in(2) ? kNoScoreboard : pick<std::uint8_t>(0, 5), pick<std::uint8_t>(0, 63)};
    }
    const OpClass op_class = info(instruction.opcode).op_class;
    if (op_class == OpClass::async_wait || op_class == OpClass::wgmma_wait) {
      instruction.immediate = pick<std::uint16_t>(0, 6);
    } else if (has_immediate(op_class)) {
      instruction.immediate = pick<std::uint16_t>(0, 1);  // of HGMMA, or one of two rings
    }
    make_memory(program, instruction, depth);
    if (random_.one_in(2)) {
      // Numbered in the order in which they come up.
      const auto known = static_cast<std::int64_t>(program.operations.size());
      const auto number = pick<std::size_t>(1, known + 1);
      if (number > program.operations.size()) {
        program.operations.push_back((known % 2 == 0 ? "mma" : "store \"O\" ") + std::to_string(known));
      }
      instruction.operation = static_cast<std::uint8_t>(number);
    }
    program.code.push_back(instruction);
    if (instruction.memory != kNoMemory && random_.one_in(3)) {
      program.code.push_back(instruction);  // shares the operand
    }
  }

  void add_code(WarpProgram& program, std::size_t depth) {
    for (std::int64_t n = random_.between(0, 6); n > 0; --n) {
      add_instruction(program, depth);
      if (depth < kMaxLoopDepth && random_.one_in(4)) {
        add_loop(program, depth);
      }
    }
  }

  void add_loop(WarpProgram& program, std::size_t depth, bool again = false) {
    const std::size_t number = program.loops.size();
    Loop loop;
    loop.begin = static_cast<std::uint32_t>(program.code.size());
    loop.trip_slot = pick<std::uint16_t>(0, 2);
    loop.again = again;
    for (std::size_t k = 0; k < depth; ++k) {
      loop.trips_per_iteration[k] = random_.one_in(2) ? pick<std::int32_t>(-3, 3) : 0;
    }
    program.loops.push_back(loop);
    add_code(program, depth + 1);
    program.code.push_back(bare(Opcode::BRA));
    program.loops[number].end = static_cast<std::uint32_t>(program.code.size());
    if (random_.one_in(3)) {
      add_loop(program, depth, true);
    }
  }

  Launch make_launch() {
    Launch launch;
    launch.name = random_.one_in(2) ? "kernel" : "void kernel<float, 3>(int)";
    launch.grid = {pick<std::uint32_t>(1, 9), pick<std::uint32_t>(1, 4), pick<std::uint32_t>(1, 3)};
    launch.threads_per_cta = pick<std::uint32_t>(1, 200);
    launch.registers_per_thread = pick<std::uint32_t>(1, 255);
    launch.shared_bytes_per_cta = pick<std::uint32_t>(0, 100000);
    for (int ring = 0; ring < 2; ++ring) {
      launch.mbarriers.push_back({pick<std::uint16_t>(1, 64), pick<std::uint16_t>(1, 1024),
                                  pick<std::uint32_t>(0, 9999), random_.one_in(2)});
    }
    for (std::int64_t p = random_.between(1, 3); p > 0; --p) {
      WarpProgram program;
      program.name = "program" + std::to_string(p);
      add_code(program, 0);
      program.code.push_back(bare(Opcode::EXIT));
      launch.programs.push_back(program);
    }
    make_classes(launch);
    return launch;
  }

  void make_classes(Launch& launch) {
    for (int c = 0; c < 7; ++c) {
      CtaClass cta_class;
      for (std::uint32_t w = warps_per_cta(launch); w > 0; --w) {
        cta_class.program_of_warp.push_back(
            pick<std::uint16_t>(0, static_cast<std::int64_t>(launch.programs.size()) - 1));
      }
      for (int slot = 0; slot < 3; ++slot) {
        cta_class.trip_counts.push_back(pick<std::uint32_t>(0, 5));
        cta_class.symbols.push_back(factor());
      }
      launch.classes.push_back(cta_class);
    }
    for (std::size_t d = 0; d < 3; ++d) {
      if (!random_.one_in(4)) {
        for (std::uint32_t block = 0; block < launch.grid[d]; ++block) {
          launch.class_of_block[d].push_back(random_.one_in(2) ? block % 3 : pick<std::uint32_t>(0, 2));
        }
      }
    }
  }

  Random random_;
  Trace trace_;
};

}  // namespace

Trace random_trace(std::uint64_t seed) {
  return TraceMaker(seed).make();
}

}  // namespace warpscope::trace

// A launch with every timing looked up once, in the layout that the issue loop walks.
#pragma once

#include <cstdint>
#include <vector>

#include "model/hw/hw_config.hpp"
#include "model/memory/access_kind.hpp"
#include "model/sm/operand_reads.hpp"
#include "model/trace/launch.hpp"

namespace warpscope::sm {

inline constexpr int kWarpLanes = 32;
inline constexpr int kRegisterBytes = 4 * kWarpLanes;  ///< of one register of a warp
inline constexpr int kInstructionBytes = 16;           ///< of machine code, since Volta

/// Pipes of a sub-core as the issue loop numbers them. FMA and IMAD share a pipe; `none` never blocks.
enum class PipeSlot : std::uint8_t { tensor, fma, alu, xu, mio, none, count };

/// Pipes whose use is counted: those before the MIO queue, which feeds a data path that is counted itself.
inline constexpr std::size_t kCountedPipes = static_cast<std::size_t>(PipeSlot::mio);

/// How far an issue reaches: no further than its warp and its pipe, than its sub-core, or to what the SM
/// shares, such as the MIO data path, barriers and the next instruction line.
enum class Reach : std::uint8_t { pipe, sub_core, sm };

/// One instruction of the concatenated programs of a launch, as much of it as decides its course: two share a
/// cache line of the host.
struct DecodedInstruction {
  trace::OpClass op_class = trace::OpClass::nop;
  PipeSlot pipe = PipeSlot::none;
  std::uint8_t stall = 1;  ///< cycles until the warp may issue again
  std::uint8_t write_scoreboard = trace::kNoScoreboard;
  std::uint8_t read_scoreboard = trace::kNoScoreboard;
  std::uint8_t wait_mask = 0;
  std::uint8_t loops_begun = 0;  ///< loops whose first instruction this is
  bool closes_loop = false;
  bool has_control = false;
  trace::Opcode opcode = trace::Opcode::NOP;
  std::uint16_t interval = 1;     ///< cycles the pipe is taken
  std::uint16_t latency = 1;      ///< result latency; memory instructions: of the path without waiting
  std::uint16_t data_cycles = 0;  ///< cycles on the SM's shared-memory data path
  std::uint16_t mio_cycles = 0;   ///< cycles until the sub-core's next memory instruction
  std::uint16_t immediate = 0;
  std::uint16_t line = 0;        ///< of the instruction cache
  std::uint8_t read_cycles = 0;  ///< of a tensor instruction: the next one may read so long after it
  PortCycles anew;               ///< of all its operands
  PortCycles kept;               ///< of those that its warp has not read just before
  Reach reach = Reach::sm;
  bool waits = true;    ///< for scoreboards, registers, copies or the MIO queue, not just time and line
  bool global = false;  ///< accesses global or local memory
  std::uint32_t memory = trace::kNoMemory;  ///< into DecodedLaunch::memory_operands

  bool operator==(const DecodedInstruction&) const = default;
};
static_assert(sizeof(DecodedInstruction) == 32);

/// Loops that an instruction begins or closes.
struct LoopEnds {
  std::uint32_t begun = 0;   ///< the first of `loops_begun`; the others follow it
  std::uint32_t closed = 0;  ///< valid if closes_loop
};

struct DecodedLoop {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;  ///< first instruction behind the loop
  std::uint16_t trip_slot = 0;
  std::uint8_t depth = 0;  ///< 0 = outermost
  bool innermost = true;   ///< contains no other loop
  std::uint32_t text = 0;  ///< the first of the innermost loops with instructions like its own
  std::array<std::int32_t, trace::kMaxLoopDepth> trips_per_iteration{};
};

/// Registers of an instruction, for programs without control bits.
struct RegisterUse {
  trace::RegisterRange destination;
  std::array<trace::RegisterRange, 4> sources;

  bool operator==(const RegisterUse&) const = default;
};

struct DecodedLaunch {
  std::vector<DecodedInstruction> code;
  std::vector<LoopEnds> loop_ends;         ///< by instruction
  std::vector<RegisterUse> register_uses;  ///< by instruction, in numbers below `register_count`
  std::vector<DecodedLoop> loops;
  std::vector<trace::MemoryOperand> memory_operands;
  std::vector<std::uint32_t> program_begin;  ///< first instruction of each program
  std::uint32_t code_lines = 0;              ///< lines of the instruction cache that the programs take
  std::uint32_t warps_per_cta = 1;
  std::vector<trace::MbarrierRing> mbarriers;  ///< of a CTA
  bool is_asynchronous = false;                ///< some instruction is one of async_units.hpp
  bool needs_register_scoreboard = false;      ///< some instruction carries no control bits
  std::uint32_t register_count = 0;            ///< registers and predicates to track in that case
};

memory::AccessKind access_kind(trace::OpClass op_class);
/// Nobody waits for its data.
inline bool is_store(trace::OpClass op_class) {
  return access_kind(op_class) != memory::AccessKind::read;
}

/// Whether it is one of the instructions that SmCore::issue_async takes: those at the end of the enum.
constexpr bool is_asynchronous(trace::OpClass op_class) {
  return op_class >= trace::OpClass::wgmma;
}

/// Whether the instruction asks the L2 for something: reloads of spilled registers hit in the L1.
bool leaves_sm(const DecodedInstruction& instruction);

DecodedLaunch decode(const hw::HwConfig& config, const trace::Trace& trace, const trace::Launch& launch);

}  // namespace warpscope::sm

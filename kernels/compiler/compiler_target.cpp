#include "kernels/compiler/compiler_target.hpp"

#include <algorithm>
#include <string>

#include "kernels/unsupported.hpp"

namespace warpscope::kernels {
namespace {

// Intervals and latencies: stall counts in the machine code of FlashAttention-2 forward and backward built by
// ptxas 12/13 for sm_80 and sm_90 (HMMAs of one warp 8 / 6 apart, FFMA 2 / 1 apart; least distances of
// dependent instructions there: FMA to FMA, FMA to MUFU, IMAD to IMAD, ALU to ALU 4, one of these to another
// or to memory 5, to HMMA 7, ISETP to a guard 13). Waiting LDSMs: median of the most in PyTorch's loops, 10
// to 12 in half of them. Window: those of V are 7 to 15 ahead in most (pytorch_load_distances.csv).
// Exponentials: on sm_90 seven instructions stand between two where there are enough, and a stall count makes
// it 10 cycles. Registers: R231 and above hold addresses and constants in the sm_90 loops.
constexpr CompilerTarget kSm80{};

constexpr CompilerTarget sm90() {
  CompilerTarget target;
  target.hmma_16816_interval = 6;
  target.lanes_behind_hmma = 5;
  target.fma_interval = 1;
  target.hmma_latency = 24;
  return target;
}

/// The GPUs that this code was built for, GA100 and GH100.
constexpr PipeTimings kGa100{.hmma_16816_interval = 8,
                             .hmma_1688_interval = 4,
                             .hmma_latency = 25,
                             .fma_latency = 4,
                             .imad_latency = 4,
                             .alu_latency = 4,
                             .xu_latency = 18,
                             .uniform_latency = 12,
                             .shared_latency = 21,
                             .shuffle_latency = 24};

constexpr PipeTimings gh100() {
  PipeTimings pipes = kGa100;
  pipes.hmma_16816_interval = 6;
  pipes.hmma_latency = 24;
  pipes.xu_latency = 17;
  pipes.shared_latency = 22;
  return pipes;
}

struct Generation {
  CompilerTarget target;
  PipeTimings pipes;
};
constexpr Generation kGeneration8{kSm80, kGa100};
constexpr Generation kGeneration9{sm90(), gh100()};

const Generation& generation(const GpuLimits& limits) {
  if (limits.compute_capability_major == 8) {
    return kGeneration8;
  }
  if (limits.compute_capability_major == 9) {
    return kGeneration9;
  }
  throw UnsupportedProblem("kernels are compiled for compute capability 8.x and 9.x, not " +
                           std::to_string(limits.compute_capability_major) + "." +
                           std::to_string(limits.compute_capability_minor));
}

}  // namespace

CompilerTarget compiler_target(const GpuLimits& limits) {
  const Generation& known = generation(limits);
  CompilerTarget target = known.target;
  const auto move = [&](int& figure, int PipeTimings::*timing) {
    const int now = limits.pipes.*timing;
    figure = now == 0 ? figure : std::max(1, figure + now - known.pipes.*timing);
  };
  // Rates of the pipes that work by lanes are left as they are. Another rate makes a list scheduler
  // interleave anew, and by chance that changes a kernel by a few per cent: more than many a rate is worth.
  move(target.hmma_16816_interval, &PipeTimings::hmma_16816_interval);
  move(target.hmma_1688_interval, &PipeTimings::hmma_1688_interval);
  move(target.hmma_latency, &PipeTimings::hmma_latency);
  move(target.fma_latency, &PipeTimings::fma_latency);
  move(target.imad_latency, &PipeTimings::imad_latency);
  move(target.alu_latency, &PipeTimings::alu_latency);
  move(target.xu_latency, &PipeTimings::xu_latency);
  move(target.uniform_latency, &PipeTimings::uniform_latency);
  move(target.shared_load_latency, &PipeTimings::shared_latency);
  move(target.shuffle_latency, &PipeTimings::shuffle_latency);
  return target;
}

CompilerTarget with_memory_interval(CompilerTarget target, int cycles) {
  target.memory_interval = cycles > 0 ? cycles : target.memory_interval;
  return target;
}

int issue_interval(const CompilerTarget& target, trace::Opcode opcode) {
  using trace::OpClass;
  switch (trace::info(opcode).op_class) {
    case OpClass::hmma_16816:
      return target.hmma_16816_interval;
    case OpClass::hmma_1688:
      return target.hmma_1688_interval;
    case OpClass::fma:
      return target.fma_interval;
    case OpClass::imad:
      return target.imad_interval;
    case OpClass::alu:
      return target.alu_interval;
    case OpClass::xu:
      return target.xu_interval;
    default:
      return trace::info(opcode).pipe == trace::Pipe::lsu ? target.memory_interval : 1;
  }
}

int planned_latency(const CompilerTarget& target, trace::Opcode opcode) {
  using trace::OpClass;
  switch (trace::info(opcode).op_class) {
    case OpClass::hmma_16816:
    case OpClass::hmma_1688:
      return target.hmma_latency;
    case OpClass::fma:
      return target.fma_latency;
    case OpClass::imad:
      return target.imad_latency;
    case OpClass::uniform:
    case OpClass::constant_operand:
      return target.uniform_latency;
    case OpClass::alu:
    case OpClass::nop:
      return target.alu_latency;
    case OpClass::xu:
      return target.xu_latency;
    case OpClass::constant_load:
    case OpClass::shared_load:
      return target.shared_load_latency;
    case OpClass::shuffle:
      return target.shuffle_latency;
    case OpClass::global_load:
      return target.global_load_latency;
    case OpClass::local_load:
      return target.reload_latency;
    default:
      return 1;
  }
}

namespace {

bool in_lanes(trace::OpClass op_class) {
  using trace::OpClass;
  return op_class == OpClass::fma || op_class == OpClass::imad || op_class == OpClass::alu;
}

}  // namespace

int planned_latency(const CompilerTarget& target, trace::Opcode from, trace::Opcode to, std::size_t reg) {
  using trace::OpClass;
  const int latency = planned_latency(target, from);
  const OpClass writer = trace::info(from).op_class;
  const OpClass reader = trace::info(to).op_class;
  if (!in_lanes(writer) || reader == writer || (writer == OpClass::fma && reader == OpClass::xu)) {
    return latency;
  }
  if (reg >= trace::kFirstPredicate) {
    return latency + target.predicate_cycles;
  }
  const bool tensor = trace::info(to).pipe == trace::Pipe::tensor;
  return latency + (tensor ? target.tensor_operand_cycles : target.other_pipe_cycles);
}

int longest_latency(const CompilerTarget& target, trace::Opcode from, std::size_t reg) {
  const int latency = planned_latency(target, from);
  if (!in_lanes(trace::info(from).op_class)) {
    return latency;
  }
  return latency + (reg >= trace::kFirstPredicate ? target.predicate_cycles : target.tensor_operand_cycles);
}

}  // namespace warpscope::kernels

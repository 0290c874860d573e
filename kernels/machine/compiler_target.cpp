#include "kernels/machine/compiler_target.hpp"

#include <string>

#include "kernels/unsupported.hpp"

namespace warpscope::kernels {
namespace {

// Intervals and latencies: stall counts in the machine code of FlashAttention-2 forward and backward built by
// ptxas 12/13 for sm_80 and sm_90 (HMMAs of one warp 8 / 6 apart, dependent FFMA 4, dependent ALU 5, FFMA 2 /
// 1). Window: distance from LDSM to its first HMMA there (9 to 12). Registers: R231 and above hold addresses
// and constants in the sm_90 loops.
constexpr CompilerTarget kSm80{};

constexpr CompilerTarget sm90() {
  CompilerTarget target;
  target.hmma_16816_interval = 6;
  target.fma_interval = 1;
  target.hmma_latency = 24;
  return target;
}
constexpr CompilerTarget kSm90 = sm90();

}  // namespace

const CompilerTarget& compiler_target(const GpuLimits& limits) {
  if (limits.compute_capability_major == 8) {
    return kSm80;
  }
  if (limits.compute_capability_major == 9) {
    return kSm90;
  }
  throw UnsupportedProblem("kernels are compiled for compute capability 8.x and 9.x, not " +
                           std::to_string(limits.compute_capability_major) + "." +
                           std::to_string(limits.compute_capability_minor));
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
    case OpClass::alu:
      return target.alu_interval;
    case OpClass::xu:
      return target.xu_interval;
    case OpClass::local_load:
    case OpClass::local_store:
      return target.ldsm_interval;
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
    case OpClass::alu:
    case OpClass::uniform:
    case OpClass::nop:
      return target.alu_latency;
    case OpClass::xu:
      return target.xu_latency;
    case OpClass::shared_load:
      return target.shared_load_latency;
    case OpClass::shuffle:
      return target.shuffle_latency;
    case OpClass::global_load:
    case OpClass::local_load:
      return target.global_load_latency;
    default:
      return 1;
  }
}

}  // namespace warpscope::kernels

#include "model/sm/instruction_decode.hpp"

#include <algorithm>
#include <boost/numeric/conversion/cast.hpp>

#include "model/sm/async_decode.hpp"

namespace warpscope::sm {
namespace {

using trace::OpClass;

// The bounds of keys and traces keep every value within what holds it; one that is not must not be narrowed
// to another.
std::uint16_t u16(int value) {
  return boost::numeric_cast<std::uint16_t>(value);
}
std::uint8_t u8(int value) {
  return boost::numeric_cast<std::uint8_t>(value);
}

void set_lane_pipe(DecodedInstruction& out, PipeSlot pipe, const auto& spec) {
  out.pipe = pipe;
  out.interval = u16(kWarpLanes / spec.lanes);
  out.latency = u16(spec.latency_cycles);
}

void set_tensor(DecodedInstruction& out, const hw::TensorShape& shape) {
  out.pipe = PipeSlot::tensor;
  out.interval = u16(shape.interval_cycles);
  out.latency = u16(shape.latency_cycles);
  out.read_cycles = u8(shape.read_cycles);
}

/// Bytes a memory instruction moves through the data path, whatever part of them lies inside the tensor.
int moved_bytes(const DecodedLaunch& launch, const DecodedInstruction& instruction) {
  return instruction.memory == trace::kNoMemory
             ? 0
             : static_cast<int>(launch.memory_operands[instruction.memory].bytes);
}

int wavefronts(const DecodedLaunch& launch, const DecodedInstruction& instruction) {
  return instruction.memory == trace::kNoMemory ? 0 : launch.memory_operands[instruction.memory].wavefronts;
}

void set_shared(DecodedInstruction& out, const hw::Sm& sm, const DecodedLaunch& launch) {
  const int bytes = moved_bytes(launch, out);
  const int transfer = bytes / sm.shared.sub_core_bytes_per_clk;
  out.data_cycles = u16(std::max({1, wavefronts(launch, out), bytes / sm.shared.bytes_per_clk}));
  // What is turned off for all lanes passes at once (experiments/reference/measured-h200/checked_columns.md).
  out.mio_cycles = u16(bytes == 0 ? 1 : std::max(sm.mio.min_interval_cycles, transfer));
  out.latency = u16(sm.shared.base_latency_cycles + transfer);
}

void set_global(DecodedInstruction& out, const hw::Sm& sm, const DecodedLaunch& launch) {
  const int bytes = moved_bytes(launch, out);
  out.data_cycles = u16(std::max({1, wavefronts(launch, out), bytes / sm.shared.bytes_per_clk}));
  out.mio_cycles = u16(std::max(sm.mio.min_interval_cycles, int{out.data_cycles}));
  if (out.op_class == OpClass::async_copy) {
    out.data_cycles = u16(sm.global.async_copy_lsu_cycles);
    out.latency = u16(sm.global.async_copy_cycles);
  } else if (out.op_class == OpClass::global_reduce) {
    out.data_cycles = u16(std::max(int{out.data_cycles}, sm.global.reduce_interval_cycles));
  } else if (out.opcode == trace::Opcode::ATOM_32) {
    out.latency = u16(sm.global.atomic_cycles);
  } else if (out.op_class == OpClass::local_load) {
    out.latency = u16(sm.global.l1_latency_cycles);
  }
}

/// Registers that a memory instruction reads: addresses, of 64 bits in global memory, and the data of a
/// store; of shared stores and SHFL those that they name, if any.
int registers_read(const DecodedInstruction& instruction, const trace::Instruction& traced,
                   const DecodedLaunch& launch) {
  constexpr int kMostData = 4;  // STS.128
  int named = 0;
  for (const trace::RegisterRange& source : traced.sources) {
    named += source.first < trace::kFirstPredicate ? source.count : 0;
  }
  const auto data = [&] {
    return std::clamp((moved_bytes(launch, instruction) + kRegisterBytes - 1) / kRegisterBytes, 1, kMostData);
  };
  switch (instruction.op_class) {
    case OpClass::async_commit:
      return 0;
    case OpClass::shuffle:
      return std::max(1, named);
    case OpClass::shared_store:
      return named > 0 ? named : 1 + data();
    case OpClass::shared_atomic:
    case OpClass::local_store:
      return 1 + data();
    case OpClass::global_load:
      return 2;
    case OpClass::global_store:
    case OpClass::global_reduce:
      return 2 + data();
    case OpClass::async_copy:
      return 3;
    default:
      return 1;
  }
}

/// Of them the ones that take time of their own, at the pace at which the sub-core's memory instructions
/// follow.
int registers_read_later(const DecodedInstruction& instruction, const trace::Instruction& traced,
                         const hw::Sm& sm, const DecodedLaunch& launch) {
  const int at_its_pace =
      std::max(1, instruction.mio_cycles * sm.shared.sub_core_bytes_per_clk / kRegisterBytes);
  return std::min(at_its_pace, registers_read(instruction, traced, launch));
}

}  // namespace

void set_timing(DecodedInstruction& out, const hw::Sm& sm, const DecodedLaunch& launch) {
  switch (out.op_class) {
    case OpClass::hmma_16816:
      return set_tensor(out, sm.tensor.hmma_16816);
    case OpClass::hmma_1688:
      return set_tensor(out, sm.tensor.hmma_1688);
    case OpClass::fma:
      return set_lane_pipe(out, PipeSlot::fma, sm.fma);
    case OpClass::imad:
      return set_lane_pipe(out, PipeSlot::fma, sm.imad);
    case OpClass::alu:
      return set_lane_pipe(out, PipeSlot::alu, sm.alu);
    case OpClass::xu:
      return set_lane_pipe(out, PipeSlot::xu, sm.xu);
    case OpClass::constant_load:
      out.latency = u16(sm.constant.latency_cycles);
      return;
    case OpClass::constant_operand:
    case OpClass::uniform:
      out.latency = u16(sm.issue.uniform_latency_cycles);
      return;
    case OpClass::shuffle:
      out.pipe = PipeSlot::mio;
      out.data_cycles = 1;
      out.mio_cycles = u16(sm.shuffle.interval_cycles);
      out.latency = u16(sm.shuffle.latency_cycles);
      return;
    case OpClass::shared_load:
    case OpClass::shared_store:
    case OpClass::shared_atomic:
      out.pipe = PipeSlot::mio;
      return set_shared(out, sm, launch);
    case OpClass::async_copy:
    case OpClass::global_load:
    case OpClass::global_store:
    case OpClass::global_reduce:
    case OpClass::local_load:
    case OpClass::local_store:
      out.pipe = PipeSlot::mio;
      return set_global(out, sm, launch);
    case OpClass::async_commit:
      out.pipe = PipeSlot::mio;
      out.data_cycles = 0;
      out.mio_cycles = 1;
      return;
    case OpClass::wgmma:
      return set_wgmma(out, sm, moved_bytes(launch, out), wavefronts(launch, out));
    default:
      return;
  }
}

void set_reads(DecodedInstruction& out, const hw::Sm& sm, const DecodedLaunch& launch,
               const trace::Instruction& instruction, const trace::Instruction* before,
               const trace::Instruction* product) {
  const int banks = sm.operands.banks;
  switch (out.pipe) {
    case PipeSlot::tensor:
      out.anew = product_reads(instruction, nullptr, banks);
      out.kept = product_reads(instruction, product, banks);
      return;
    case PipeSlot::fma:
    case PipeSlot::alu:
      out.anew = lane_reads(instruction, nullptr, banks);
      out.kept = lane_reads(instruction, before, banks);
      return;
    case PipeSlot::mio:
      out.anew = out.kept = {registers_read_later(out, instruction, sm, launch), 0};
      if (out.op_class == OpClass::shuffle) {
        out.latency =
            u16(out.latency + sm.shuffle.lane_cycles * (registers_read(out, instruction, launch) - 1));
      }
      return;
    default:
      return;
  }
}

}  // namespace warpscope::sm

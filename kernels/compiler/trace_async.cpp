// Roles, warpgroup products, mbarriers and box copies of the trace machine.
#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>

#include "kernels/compiler/trace_machine.hpp"
#include "kernels/machine/check_plan.hpp"

namespace warpscope::kernels {

using trace::MemoryOperand;
using trace::Opcode;

namespace {

constexpr int kGroupWarps = 4;
constexpr int kRows = 64;  // of A in one product
constexpr int kNarrow = 64;
constexpr int kDepth = 16;  // of one product

/// Tiles of other widths are made of products of 64 columns.
int product_columns(int columns) {
  const bool whole = columns == 128 || columns == 176 || columns == 256;
  return whole || columns % kNarrow != 0 ? columns : kNarrow;
}

Opcode product_opcode(int columns) {
  switch (columns) {
    case 64:
      return Opcode::HGMMA_64X64X16_F32;
    case 128:
      return Opcode::HGMMA_64X128X16_F32;
    case 176:
      return Opcode::HGMMA_64X176X16_F32;
    case 256:
      return Opcode::HGMMA_64X256X16_F32;
    default:
      throw std::logic_error(fmt::format(
          "products of warpgroups with {} columns do not exist here; legal are 64, 128, 176 and 256",
          columns));
  }
}

}  // namespace

void TraceMachine::role(unsigned roles, const std::function<void()>& body) {
  if ((roles >> role_ & 1U) == 0) {
    return;
  }
  const int outer = std::exchange(warps_, warps_of_roles(launch_, roles));
  body();
  warps_ = outer;
}

void TraceMachine::mma_async(const Fragment& accumulator, const MmaOperand& a, const MmaOperand& b) {
  const Operation operation(*this, "mma_async");
  const auto* left = std::get_if<SharedTile>(&a.tile);
  const auto* right = std::get_if<SharedTile>(&b.tile);
  if (left == nullptr || right == nullptr || accumulator.split.m % kGroupWarps != 0) {
    throw std::logic_error(
        "a product of warpgroups takes both operands from shared memory and rows split over groups of 4 "
        "warps");
  }
  check_shared(launch_, *left);
  check_shared(launch_, *right);
  zero_accumulators_.erase(accumulator.id);  // the first product of a tile takes its sums as zeros
  const int depth = a.transposed ? left->rows : left->cols;
  const int row_blocks = accumulator.rows / (kRows * accumulator.split.m / kGroupWarps);
  const int columns = product_columns(accumulator.cols);
  const int registers = columns / 2;  // of a product in one thread
  const int blocks = row_blocks * (accumulator.cols / columns);
  // Each warp reads its quarter of A, and B is read once for the four.
  MemoryOperand operands;
  operands.bytes = static_cast<std::uint32_t>((kRows + columns) * kDepth * 2 / kGroupWarps);
  operands.wavefronts = static_cast<std::uint16_t>((operands.bytes + 127) / 128);
  emitter_.emit(Opcode::WARPGROUP_ARRIVE, {}, {});
  const int products = depth / kDepth * blocks;
  for (int i = 0; i < products; ++i) {
    emitter_.emit_asynchronous(product_opcode(columns), i + 1 == products ? 1 : 0,
                               reg(accumulator, i % blocks * registers, registers), &operands);
  }
}

void TraceMachine::wait_mma(const Fragment& accumulator, int pending) {
  const Operation operation(*this, "wait_mma");
  emitter_.emit_asynchronous(Opcode::WARPGROUP_DEPBAR_LE, pending, reg(accumulator, 0, count(accumulator)),
                             nullptr);
}

void TraceMachine::arrive(int ring) {
  const Operation operation(*this, "arrive");
  emitter_.emit_immediate(Opcode::SYNCS_ARRIVE, ring);
}

void TraceMachine::wait(int ring) {
  const Operation operation(*this, "wait");
  emitter_.emit_immediate(Opcode::SYNCS_PHASECHK_TRYWAIT, ring);
}

void TraceMachine::copy_box(const SharedTile& target, const GlobalTile& source, int ring, int sharers) {
  const Operation operation(*this, named("copy_box", source));
  check_shared(launch_, target);
  MemoryOperand operand = global_operand(source, 0, 1, Layout::linear, 16);
  operand.bytes =
      static_cast<std::uint32_t>(source.rows * source.cols * element_bytes(target.type) / sharers);
  operand.offset.per_warp = 0;
  if (sharers > 1) {
    operand.offset.per_block[0] += operand.bytes;
  }
  emitter_.emit_asynchronous(Opcode::UTMALDG, ring, {}, &operand);
}

void TraceMachine::store_box(const GlobalTile& target, const SharedTile& source, int ring) {
  const Operation operation(*this, named("store_box", target));
  check_shared(launch_, source);
  MemoryOperand operand = global_operand(target, 0, 1, Layout::linear, 16);
  operand.bytes = static_cast<std::uint32_t>(source.rows * source.cols * element_bytes(source.type));
  operand.offset.per_warp = 0;
  emitter_.emit_asynchronous(Opcode::UTMASTG, ring, {}, &operand);
}

void TraceMachine::barrier(int name, int warps) {
  const Operation operation(*this, "barrier");
  emitter_.emit_immediate(Opcode::BAR_SYNC, name + trace::kBarrierNames * warps);
}

void TraceMachine::store_matrix(const SharedTile& target, const Fragment& source, int first_col,
                                float factor) {
  const Operation operation(*this, "store_matrix");
  check_shared(launch_, target);
  // A block of 64 rows is in registers one behind the other, as are its columns.
  const int blocks = source.rows / (kRows * source.split.m / kGroupWarps);
  for (int block = 0; block < blocks; ++block) {
    const int first = block * source.cols / 2 + first_col / 2;
    for (int store = 0; store < target.cols / 2; store += 8) {
      const Range packed = emitter_.temporary(4);
      for (int i = 0; i < 8; i += 2) {
        const Range pair = reg(source, first + store + i, 2);
        for (int k = 0; k < 2 && factor != 1.0F; ++k) {
          const Range sum = {static_cast<std::uint16_t>(pair.first + k), 1};
          emitter_.emit(Opcode::FMUL, sum, {sum, CodeEmitter::shared_base()});
        }
        emitter_.emit(Opcode::F2FP_PACK_AB, {static_cast<std::uint16_t>(packed.first + i / 2), 1}, {pair});
      }
      MemoryOperand operand;
      operand.bytes = 512;
      operand.wavefronts = 4;
      emitter_.emit_memory(Opcode::STSM_X4, {}, {packed, CodeEmitter::shared_base()}, operand);
    }
  }
}

}  // namespace warpscope::kernels

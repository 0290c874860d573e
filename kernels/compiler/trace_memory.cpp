// Global memory of the trace machine: tiles and rows that come and go, and asynchronous copies.
#include <algorithm>
#include <array>

#include "kernels/compiler/memory_shapes.hpp"
#include "kernels/compiler/trace_machine.hpp"
#include "kernels/machine/check_plan.hpp"

namespace warpscope::kernels {
namespace {

using trace::MemoryOperand;
using trace::Opcode;

// Address code of one burst of cp.async in the machine code of FlashAttention-2 forward (ptxas 13, sm_80 and
// sm_90, head dimensions 64 and 128): the start of the tile, then two adds (64-bit pointer) for every further
// group of rows. Groups of columns need none: their distance is in the instruction. Three shared loads before
// each burst, and behind each store to shared memory, are predicated off and never read anything.
constexpr std::array kTileAddress = {Opcode::SHF, Opcode::IMAD_WIDE, Opcode::IMAD, Opcode::IMAD,
                                     Opcode::LEA, Opcode::IMAD,      Opcode::LEA,  Opcode::LEA,
                                     Opcode::LEA, Opcode::IADD3};
constexpr int kAddsPerRowGroup = 2;
constexpr int kDeadLoads = 3;
constexpr int kColumnGroupBytes = 128;  // of a row that 8 threads copy, or 4 where rows are no multiple of it
constexpr int kLanes = 32;
constexpr int kBytesPerCopy = kLanes * 16;
constexpr int kWavefrontBytes = 128;

}  // namespace

// Of all lanes or none: where some are on, each eight of them take a pass (checked_columns.csv).
void TraceMachine::store_zeros(bool some) {
  constexpr int kPasses = 4;
  emitter_.emit_memory(Opcode::STS_128, {}, {CodeEmitter::shared_base()},
                       some ? shared_operand(kPasses * kWavefrontBytes, kPasses) : shared_operand(0, 0));
}

MemoryOperand TraceMachine::global_operand(const GlobalTile& tile, int index, int instructions, Layout layout,
                                           int lane_bytes) const {
  const TensorSpec& tensor = plan_.tensors.at(static_cast<std::size_t>(tile.tensor));
  const std::int64_t element = element_bytes(tensor.type);
  // A tile as wide as the tensor is contiguous. A narrower one is placed as if the tensor were stored tile by
  // tile: every byte keeps exactly one place, and one tile stays together as its rows do in DRAM pages.
  const bool whole_rows = !tile.flat && !tile.transposed && tile.cols >= tensor.cols;
  const std::int64_t tile_bytes = tile.rows * columns_inside(tile, tensor) * element;
  Affine first = tile.flat       ? tile.col * element
                 : tile.numbered ? tile.number * (tile.rows * tile.cols * element)
                                 : tile.row * (tensor.cols * element);
  if (!whole_rows && !tile.flat && !tile.numbered) {
    first = first + tile.col * (tile.transposed ? element : tile.rows * element);
  }
  MemoryOperand operand;
  operand.tensor = static_cast<std::uint16_t>(tile.tensor);
  operand.segment = resolver_.resolve(tile.segment);
  operand.offset = resolver_.resolve(first);
  const int warps = warps_;
  // The tile is spread evenly; a ragged one is rounded up to whole lanes.
  const std::int64_t share = std::max<std::int64_t>(1, tile_bytes / (std::int64_t{instructions} * warps));
  const std::int64_t bytes = (share + lane_bytes - 1) / lane_bytes * lane_bytes;
  operand.bytes = static_cast<std::uint32_t>(bytes);
  const std::int64_t row_bytes = columns_inside(tile, tensor) * element;
  if (!whole_rows && !tile.flat && !tile.numbered && !tile.transposed && row_bytes < trace::kLineBytes) {
    // Each row's part lies in a line of its own, of which other tiles have the rest.
    operand.lines = static_cast<std::uint16_t>(std::max<std::int64_t>(1, bytes / row_bytes));
  }
  if (layout == Layout::row_per_warp) {
    const int rows_per_warp = divide_up(tile.rows, warps);
    const int per_row = std::max(1, instructions / rows_per_warp);
    operand.offset.offset += (index / per_row) * warps * per_row * bytes + (index % per_row) * bytes;
    operand.offset.per_warp = per_row * bytes;
  } else {
    operand.offset.offset += index * warps * bytes;
    operand.offset.per_warp = bytes;
  }
  return operand;
}

// Rows that lie beyond have no bytes: those that exist fill the first instructions of all warps, or of one.
void TraceMachine::keep_rows_inside(MemoryOperand& operand, const GlobalTile& tile, int index,
                                    int lane_bytes) const {
  const TensorSpec& tensor = plan_.tensors.at(static_cast<std::size_t>(tile.tensor));
  const std::int64_t element = element_bytes(tensor.type);
  const std::int64_t nowhere = tensor.rows * tensor.cols * element;
  const int warps = warps_;
  const std::int64_t most = std::int64_t{kLanes} * lane_bytes;
  const std::int64_t before = std::int64_t{index} * warps * most;
  const std::int64_t bytes = tile.rows_inside * columns_inside(tile, tensor) * element - before;
  operand.offset.offset += before - index * operand.offset.per_warp * warps;
  if (bytes <= 0) {
    operand.offset.offset += nowhere;
    return;
  }
  const std::int64_t share = std::min(most, (bytes + warps - 1) / warps);
  const bool one_warp = share % lane_bytes != 0 || share * warps > bytes;
  operand.bytes = static_cast<std::uint32_t>(one_warp ? std::min(most, bytes) : share);
  operand.offset.per_warp = one_warp ? nowhere : share;
}

void TraceMachine::copy_async(const SharedTile& target, const GlobalTile& source) {
  const Operation operation(*this, named("copy_async", source));
  check_shared(launch_, target);
  const int bytes = target.rows * target.cols * element_bytes(target.type);
  const int copies = divide_up(bytes, kBytesPerCopy * launch_.warps);
  const int row_bytes = target.cols * element_bytes(target.type);
  const int group_bytes = row_bytes % kColumnGroupBytes == 0 ? kColumnGroupBytes : kColumnGroupBytes / 2;
  const int column_groups = std::max(1, row_bytes / group_bytes);
  const int row_groups = std::max(1, copies / column_groups);
  const bool estimates = launch_.build.estimate_copy_addresses;
  Range address = CodeEmitter::shared_base();
  for (std::size_t i = 0; estimates && i < kTileAddress.size(); ++i) {
    address = emitter_.address_instruction(kTileAddress[i]);
  }
  const auto dead_loads = [&] {
    for (int i = 0; i < kDeadLoads; ++i) {
      emitter_.emit_memory(Opcode::LDS_32, {}, {CodeEmitter::shared_base()}, shared_operand(0, 0));
    }
  };
  if (estimates) {
    dead_loads();
  }
  const int group_columns = target.cols / column_groups;
  for (int i = 0; i < copies; ++i) {
    if (launch_.build.checks_columns) {
      // One group of columns behind the other, then the next rows.
      const int end = (i % column_groups + 1) * group_columns;
      store_zeros(columns_inside(source, plan_.tensors.at(static_cast<std::size_t>(source.tensor))) < end);
      if (i > 0) {
        dead_loads();
      }
    }
    for (int k = 0; estimates && i > 0 && i < row_groups && k < kAddsPerRowGroup; ++k) {
      address = emitter_.address_instruction(Opcode::IADD3);
    }
    MemoryOperand operand = global_operand(source, i, copies, Layout::linear, 16);
    // The shared-memory wavefront counter counts one per LDGSTS; what the write costs is the model's
    // business.
    operand.wavefronts = 1;
    emitter_.emit_memory(Opcode::LDGSTS_128, {}, {address, CodeEmitter::shared_base()}, operand);
  }
}

void TraceMachine::commit_copies() {
  const Operation operation(*this, "commit_copies");
  emitter_.emit(Opcode::LDGDEPBAR, {}, {});
}
void TraceMachine::wait_copies(int pending) {
  const Operation operation(*this, "wait_copies");
  emitter_.emit_immediate(Opcode::DEPBAR_LE, pending);
}
void TraceMachine::barrier() {
  const Operation operation(*this, "barrier");
  emitter_.emit_immediate(Opcode::BAR_SYNC, 0);
}

TraceMachine::Pieces TraceMachine::pieces(const Fragment& fragment) const {
  const int registers = count(fragment);
  int per_instruction = 4;
  if (fragment.layout == Layout::accumulator) {
    per_instruction = fragment.type == ElementType::fp32 ? 2 : 1;
  } else if (fragment.layout == Layout::row_per_warp || fragment.layout == Layout::element_per_thread) {
    return {registers, 1, element_bytes(fragment.type)};
  } else if (fragment.layout == Layout::linear_quads) {
    per_instruction = element_bytes(fragment.type);
  }
  per_instruction = std::min(per_instruction, registers);
  if (per_instruction == 3) {
    per_instruction = 1;
  }
  return {divide_up(registers, per_instruction), per_instruction, 4 * per_instruction};
}

TraceMachine::Pieces TraceMachine::quads(const Fragment& fragment) const {
  constexpr int kRegisters = 4;
  return {divide_up(count(fragment), kRegisters), kRegisters, 4 * kRegisters};
}

TraceMachine::Range TraceMachine::tile_address() {
  return launch_.build.estimate_tile_addresses ? emitter_.address_instruction(Opcode::IADD3)
                                               : CodeEmitter::shared_base();
}

void TraceMachine::move_tile(const GlobalTile& tile, const Fragment& fragment, bool is_load) {
  if (holds_single_elements(fragment.layout)) {
    move_elements(tile, fragment, is_load);
    return;
  }
  const Pieces cut = tile.as_held ? quads(fragment) : pieces(fragment);
  for (int i = 0; i < cut.count; ++i) {
    const Range address = tile_address();
    const Range data = reg(fragment, i * cut.registers, cut.registers);
    MemoryOperand operand = global_operand(tile, i, cut.count, fragment.layout, cut.width);
    if (tile.rows_inside > 0) {
      keep_rows_inside(operand, tile, i, cut.width);
    }
    if (is_load) {
      // Parts of rows that begin in one bank are served one after another (strided_loads.md).
      operand.wavefronts = operand.lines;
      emitter_.emit_memory(by_width(cut.width, cut.width == 2 ? Opcode::LDG_16 : Opcode::LDG_32,
                                    Opcode::LDG_64, Opcode::LDG_128),
                           data, {address}, operand);
    } else {
      emitter_.emit_memory(by_width(cut.width, cut.width == 2 ? Opcode::STG_16 : Opcode::STG_32,
                                    Opcode::STG_64, Opcode::STG_128),
                           {}, {data, address}, operand);
    }
  }
}

void TraceMachine::load(const Fragment& target, const GlobalTile& source) {
  const Operation operation(*this, named("load", source));
  move_tile(source, target, true);
}
void TraceMachine::store(const GlobalTile& target, const Fragment& source) {
  const Operation operation(*this, named("store", target));
  move_tile(target, source, false);
}

void TraceMachine::reduce_add(const GlobalTile& target, const Fragment& source) {
  const Operation operation(*this, named("reduce_add", target));
  const int registers = count(source);
  if (source.layout != Layout::linear_quads) {
    for (int i = 0; i < registers; ++i) {
      emitter_.emit_memory(Opcode::RED_ADD_F32, {}, {reg(source, i), emitter_.address_words()},
                           global_operand(target, i, registers, Layout::linear, 4));
    }
    return;
  }
  // Four neighbours of a thread, or all that it has, one after the other: each time the lanes touch all
  // sectors of the quads.
  const int quad = std::min(4, registers);
  for (int i = 0; i < registers; i += quad) {
    const Range address = emitter_.address_words();
    for (int k = i; k < i + quad; ++k) {
      emitter_.emit_memory(Opcode::RED_ADD_F32, {}, {reg(source, k), address},
                           global_operand(target, i / quad, registers / quad, Layout::linear, 4 * quad));
    }
  }
}

// One address for all of a row of tiles: the distances stand in the instructions.
void TraceMachine::add_sums(const Fragment& target, const GlobalTile& source, int registers) {
  const Operation operation(*this, named("add_sums", source));
  const Range address = emitter_.address_instruction(Opcode::IADD3);
  const int mark = emitter_.allocation_mark();
  const Range loaded = emitter_.allocate(registers);
  const auto turn = [&](int i) -> Range {
    return {static_cast<std::uint16_t>(loaded.first + i % registers), 1};
  };
  const auto add = [&](int i) { emitter_.emit(Opcode::FADD, reg(target, i), {reg(target, i), turn(i)}); };
  const int all = count(target);
  for (int i = 0; i < all; ++i) {
    if (i >= registers) {
      add(i - registers);
    }
    emitter_.emit_memory(Opcode::LDG_32, turn(i), {address},
                         global_operand(source, i, all, Layout::linear, 4));
  }
  for (int i = std::max(all - registers, 0); i < all; ++i) {
    add(i);
  }
  emitter_.release_to(mark);
}

void TraceMachine::load_rows(const RowVector& target, const GlobalTile& source) {
  const Operation operation(*this, named("load_rows", source));
  for (int i = 0; i < count(target); ++i) {
    const Range address = tile_address();
    emitter_.emit_memory(source.atomic ? Opcode::ATOM_32 : Opcode::LDG_32, reg(target, i), {address},
                         global_operand(source, i, count(target), Layout::linear, 4));
  }
}

// Loads of uniform addresses, and the first use of each number, which nothing passes by.
void TraceMachine::read_settled(std::initializer_list<GlobalTile> numbers, const Affine& /*difference*/) {
  const Operation operation(*this, "read_settled");
  std::vector<Range> loaded;
  for (const GlobalTile& number : numbers) {
    MemoryOperand operand = global_operand(number, 0, 1, Layout::linear, 4);
    operand.bytes = 4;
    operand.offset.per_warp = 0;
    loaded.push_back(emitter_.temporary(1));
    emitter_.emit_memory(Opcode::LDG_32, loaded.back(), {tile_address()}, operand);
  }
  for (const Range number : loaded) {
    emitter_.emit(Opcode::IADD3, emitter_.temporary(1), {number});
  }
  end_block(BlockEnd::join);
}

void TraceMachine::store_rows(const GlobalTile& target, const RowVector& source) {
  const Operation operation(*this, named("store_rows", target));
  for (int i = 0; i < count(source); ++i) {
    const Range address = tile_address();
    MemoryOperand operand = global_operand(target, i, count(source), Layout::linear, 4);
    if (target.rows_inside > 0) {
      keep_rows_inside(operand, target, i, 4);
    }
    emitter_.emit_memory(Opcode::STG_32, {}, {reg(source, i), address}, operand);
  }
}

}  // namespace warpscope::kernels

// Elementwise layouts of the trace machine: one register per element, accesses of one element per lane.
#include <algorithm>
#include <array>
#include <numeric>
#include <set>
#include <stdexcept>

#include "kernels/compiler/trace_machine.hpp"

namespace warpscope::kernels {
namespace {

using trace::Opcode;

constexpr int kLanes = 32;
constexpr int kBanks = 32;
constexpr std::int64_t kSectorBytes = 32;  // what leaves L1 and L2 at least

bool is_constant(const Affine& position) {
  return position == Affine(position.constant);
}

/// Passes of the data path for an access in which lane `l` has the element at row_of(l), col_of(l).
int bank_passes(const SharedTile& tile, const auto& row_of, const auto& col_of) {
  std::array<std::set<int>, kBanks> words;
  for (int lane = 0; lane < kLanes; ++lane) {
    const int word = tile.element_index(row_of(lane), col_of(lane));
    words[static_cast<std::size_t>(word % kBanks)].insert(word);
  }
  const auto deepest = std::ranges::max_element(words, {}, [](const auto& bank) { return bank.size(); });
  return static_cast<int>(deepest->size());
}

void require_fp32(const SharedTile& tile, Layout layout, Layout legal) {
  if (tile.type != ElementType::fp32 || layout != legal) {
    throw std::logic_error(
        "a tile that is not swizzled is fp32, stored from layout accumulator and loaded to layout linear");
  }
}

/// `column` / columns, for columns that blocks step over in divisors of `columns`, and blocks, loops and
/// symbols in multiples; a loop that takes fewer goes through one panel.
Affine panel_of(const Affine& column, std::int64_t columns) {
  Affine panel = column;
  panel.constant /= columns;
  for (std::size_t d = 0; d < 3; ++d) {
    if (const std::int64_t step = column.per_block[d]; step != 0) {
      panel.per_block[d] = std::max<std::int64_t>(1, step / columns);
      panel.block_divisor[d] *= static_cast<std::int32_t>((columns + step - 1) / step);
    }
  }
  for (std::int64_t& step : panel.per_loop) {
    step /= columns;
  }
  panel.per_symbol /= columns;
  return panel;
}

}  // namespace

bool holds_single_elements(Layout layout) {
  return layout == Layout::row_per_warp || layout == Layout::element_per_thread;
}

std::int64_t columns_inside(const GlobalTile& tile, const TensorSpec& tensor) {
  // Where a tile starts is known only for constants; programs of ragged edges use those.
  if (tile.flat || !is_constant(tile.col)) {
    return tile.cols;
  }
  return std::clamp<std::int64_t>(tensor.cols - tile.col.constant, 0, tile.cols);
}

// Lanes whose elements lie a row apart read a sector each. The tensor is placed as if it were stored in
// panels of a sector's width, one after another: the sectors of neighbouring rows are neighbours, and all
// columns of a panel read the same ones again. The first of the columns to be read brings the panel from HBM,
// as in fact the lines of the rows are read by CTAs that run together. L1 catches nothing: other columns are
// other CTAs', which run on other SMs. Rows of interleaved heads begin a multiple of 128 bytes apart, all in
// one bank, so that a load takes a pass of the data path for every lane
// (experiments/reference/measured-h200/strided_loads.md).
void TraceMachine::load_column(const GlobalTile& tile, const Fragment& fragment) {
  const TensorSpec& tensor = plan_.tensors.at(static_cast<std::size_t>(tile.tensor));
  const std::int64_t row_bytes = tensor.cols * element_bytes(tensor.type);
  // Rows that are no multiple of a sector share their ends with neighbours: counted in the unit that fits.
  const std::int64_t piece = std::gcd(kSectorBytes, row_bytes);
  const std::int64_t panel_columns = piece / element_bytes(tensor.type);
  const Affine first = panel_of(tile.col, panel_columns) * (tensor.rows * piece) + tile.row * piece;
  const std::int64_t rows_inside =
      is_constant(tile.row) ? std::clamp<std::int64_t>(tensor.rows - tile.row.constant, 0, tile.cols)
                            : tile.cols;
  const std::int64_t reach = std::int64_t{kLanes} * warps_;
  // Columns that one CTA reads share sectors, which L1 has after the first of them, if they fill a panel.
  // Fewer are other heads' in fact (CatArrayBatchedCopy), so that every lane asks the L2; as many panels are
  // read as there are rounds for one.
  const std::int64_t sharers = tile.rows < panel_columns ? 1 : panel_columns;
  for (int i = 0; i < count(fragment); ++i) {
    const std::int64_t all = tile.rows > 1 ? rows_inside * tile.rows : rows_inside;
    const std::int64_t elements = std::clamp<std::int64_t>(all - i * reach, 0, reach);
    if (elements == 0) {
      continue;
    }
    trace::MemoryOperand operand;
    operand.tensor = static_cast<std::uint16_t>(tile.tensor);
    operand.segment = resolver_.resolve(tile.segment);
    operand.offset = resolver_.resolve(first);
    operand.offset.offset += i * reach * piece / sharers;
    const std::int64_t lanes = (elements + warps_ - 1) / warps_;
    operand.bytes = static_cast<std::uint32_t>(std::max<std::int64_t>(1, lanes / sharers) * piece);
    operand.wavefronts = static_cast<std::uint16_t>(lanes);
    operand.lines = operand.wavefronts;
    operand.offset.per_warp = operand.bytes;
    emitter_.emit_memory(Opcode::LDG_16, reg(fragment, i), {CodeEmitter::shared_base()}, operand);
  }
}

void TraceMachine::move_elements(const GlobalTile& tile, const Fragment& fragment, bool is_load) {
  if (tile.transposed) {
    load_column(tile, fragment);
    return;
  }
  const TensorSpec& tensor = plan_.tensors.at(static_cast<std::size_t>(tile.tensor));
  const std::int64_t element = element_bytes(tensor.type);
  const bool by_rows = fragment.layout == Layout::row_per_warp;
  if (by_rows && row_lanes(fragment.cols) < kLanes) {
    throw std::logic_error("rows that share a warp go through shared memory only");
  }
  const int warps = warps_;
  const int per_row = by_rows ? count(fragment) / at(fragment.id).row_slots : count(fragment);
  const std::int64_t row_bytes = tensor.cols * element;
  const std::int64_t inside = columns_inside(tile, tensor) * (by_rows ? 1 : tile.rows);
  const Affine first = (tile.flat ? Affine(0) : tile.row * row_bytes) +
                       tile.col * (tile.flat || by_rows ? element : element * tile.rows);
  for (int i = 0; i < count(fragment); ++i) {
    // Elements that the warps of this instruction reach: one warp's lanes by rows, else those of all warps.
    const int reach = by_rows ? kLanes : kLanes * warps;
    const std::int64_t skipped = std::int64_t{i % per_row} * reach;
    const std::int64_t elements = std::clamp<std::int64_t>(inside - skipped, 0, reach);
    if (elements == 0) {
      continue;  // the source branches around accesses beyond the row
    }
    trace::MemoryOperand operand;
    operand.tensor = static_cast<std::uint16_t>(tile.tensor);
    operand.segment = resolver_.resolve(tile.segment);
    operand.offset = resolver_.resolve(first);
    operand.offset.offset += skipped * element;
    if (by_rows) {
      operand.bytes = static_cast<std::uint32_t>(elements * element);
      operand.offset.offset += std::int64_t{i / per_row} * warps * row_bytes;
      operand.offset.per_warp = row_bytes;
    } else {
      operand.bytes = static_cast<std::uint32_t>((elements + warps - 1) / warps * element);
      operand.offset.per_warp = operand.bytes;
    }
    const bool word = element == 4;
    const Range base = CodeEmitter::shared_base();
    if (is_load) {
      emitter_.emit_memory(word ? Opcode::LDG_32 : Opcode::LDG_16, reg(fragment, i), {base}, operand);
    } else {
      emitter_.emit_memory(word ? Opcode::STG_32 : Opcode::STG_16, {}, {reg(fragment, i), base}, operand);
    }
  }
}

// The two elements of a row that a lane holds go together: half a warp at a time.
void TraceMachine::store_elements(const SharedTile& tile, const Fragment& source) {
  require_fp32(tile, source.layout, Layout::accumulator);
  constexpr int kLanesPerRow = 4;
  const auto first_lanes = [](int lane) { return lane % (kLanes / 2); };
  const int passes = bank_passes(
      tile, [&](int lane) { return first_lanes(lane) / kLanesPerRow; },
      [&](int lane) { return 2 * (first_lanes(lane) % kLanesPerRow) + lane / (kLanes / 2); });
  trace::MemoryOperand operand;
  operand.bytes = 8 * kLanes;
  operand.wavefronts = static_cast<std::uint16_t>(2 * passes);
  for (int i = 0; i < count(source); i += 2) {
    emitter_.emit_memory(Opcode::STS_64, {}, {reg(source, i, 2), CodeEmitter::shared_base()}, operand);
  }
}

void TraceMachine::load_elements(const Fragment& target, const SharedTile& tile) {
  require_fp32(tile, target.layout, Layout::linear);
  const bool pairs = target.type != ElementType::fp32;
  const int piece = 16 / element_bytes(target.type);
  const int lanes_per_row = std::min(kLanes, threads_per_row(target.layout, target.cols, target.type));
  const int passes = bank_passes(
      tile, [&](int lane) { return lane / lanes_per_row; },
      [&](int lane) { return piece * (lane % lanes_per_row); });
  trace::MemoryOperand operand;
  operand.bytes = 4 * kLanes;
  operand.wavefronts = static_cast<std::uint16_t>(passes);
  const auto load = [&](Range element) {
    emitter_.emit_memory(Opcode::LDS_32, element, {CodeEmitter::shared_base()}, operand);
    return element;
  };
  for (int i = 0; i < count(target); ++i) {
    if (!pairs) {
      load(reg(target, i));
      continue;
    }
    const Range low = load(emitter_.temporary(1));
    const Range high = load(emitter_.temporary(1));
    emitter_.emit(Opcode::F2FP_PACK_AB, reg(target, i), {low, high});
  }
}

void TraceMachine::convert_elements(const Fragment& target, const Fragment& source) {
  const bool pairs = target.type != ElementType::fp32 && !holds_single_elements(target.layout);
  const bool source_pairs = source.type != ElementType::fp32 && !holds_single_elements(source.layout);
  for (int i = 0; i < count(target); ++i) {
    if (target.type == source.type) {
      emitter_.emit(Opcode::IMAD_MOV, reg(target, i), {reg(source, i)});
    } else if (source.type == ElementType::boolean) {
      emitter_.emit(Opcode::LOP3, reg(target, i), {reg(source, i)});
    } else if (target.type == ElementType::fp32) {
      emitter_.emit(Opcode::HADD2, reg(target, i), {reg(source, source_pairs ? i / 2 : i)});
    } else if (pairs) {
      emitter_.emit(Opcode::F2FP_PACK_AB, reg(target, i), {reg(source, 2 * i), reg(source, 2 * i + 1)});
    } else {
      emitter_.emit(Opcode::F2FP_PACK_AB, reg(target, i), {reg(source, i)});
    }
  }
}

void TraceMachine::fill_masked(const Fragment& target, const Fragment& values, const Fragment& mask) {
  for (int i = 0; i < count(target); ++i) {
    const Range hidden = emitter_.temporary_predicate();
    emitter_.emit(Opcode::ISETP, hidden, {reg(mask, i)});
    emitter_.emit(Opcode::SEL, reg(target, i), {reg(values, i), hidden});
  }
}

}  // namespace warpscope::kernels

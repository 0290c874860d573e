// What a CTA program computes with: tiles of tensors, shared tiles, register fragments, row vectors.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "kernels/machine/affine.hpp"

namespace warpscope::kernels {

enum class ElementType : std::uint8_t {
  fp16,
  bf16,
  fp32,
  boolean,  ///< one byte; reads as 0 or 1
  int32,    ///< a position or an index; exact up to 2^24
};

constexpr int element_bytes(ElementType type) {
  return type == ElementType::fp32 || type == ElementType::int32 ? 4 : type == ElementType::boolean ? 1 : 2;
}

/// Values for elements of a tile that lie beyond the rows or columns of the tensor.
enum class OutOfRange : std::uint8_t {
  zero,   ///< written as zeros
  leave,  ///< not written: the destination keeps what it held (garbage that the program must mask)
};

/// Rows of a tensor in pages: row r of segment s is row r mod `rows` of the page that `table` has in row s /
/// `segments`, column r / rows. Pages are numbered by their own place: those of the tensor's first `segments`
/// segments, one behind the other, then of the next.
struct Pages {
  int table = -1;  ///< tensor of int32; -1: no pages
  std::int64_t rows = 0;
  std::int64_t segments = 1;  ///< in a row that share their pages: heads of one sequence
};

/// rows x cols elements of a tensor. What lies beyond the tensor's rows or columns is neither read nor
/// written.
struct GlobalTile {
  int tensor = 0;  ///< index into KernelPlan::tensors
  Affine segment;  ///< which of the tensor's equal pieces (batch and head, say)
  Affine row;      ///< first row; a multiple of `rows` where col is used
  Affine col;      ///< first column
  int rows = 0;
  int cols = 0;
  OutOfRange out_of_range = OutOfRange::zero;
  /// The segment is taken as one row of all its elements, as elementwise kernels do: `col` counts elements
  /// from the start of the segment, `row` is 0 and `rows` 1.
  bool flat = false;
  /// For loads of layout element_per_thread and for row vectors: element (i, j) of the fragment is row `row`
  /// + j, column `col` + i of the tensor, and the tile has one column. In a load every lane reads a row of
  /// its own.
  bool transposed = false;
  /// The tile with this number, rows of tiles one after the other, in place of row and col: what a table
  /// tells.
  Affine number{};
  bool numbered = false;
  /// Rows from this one on lie beyond the tensor too, as where several matrices share a segment; 0: none.
  int rows_inside = 0;
  Pages pages{};
  /// Elements lie as the threads hold them, so that each moves 16 bytes at a time whatever the layout: of
  /// scratch that only the same fragments read back.
  bool as_held = false;
  /// load_rows: by an atomic operation that leaves the word as it is.
  bool atomic = false;
};

/// rows x cols elements in shared memory from byte_offset; tiles may overlap on purpose (O through Q's
/// buffer). `stages` > 1 is a ring of such tiles, of which this handle means number (slot mod stages).
struct SharedTile {
  int byte_offset = 0;
  int rows = 0;
  int cols = 0;
  ElementType type = ElementType::fp16;
  int stages = 1;
  Affine slot{};
  /// Elements from one row to the next where they are not side by side, as in a padded tile or columns of a
  /// wider one; 0: cols.
  int pitch = 0;
  /// Bytes from one stage to the next where stages are parts of one tile; 0: they lie one behind the other.
  int stage_pitch = 0;
  /// Element (i, j) lies where element (j, i) of the tile of cols x rows does. No mma takes such a tile.
  bool column_major = false;
  /// False: an fp32 tile as it stands, which lanes access element by element and many in one bank; else
  /// rows are permuted so that they do not.
  bool swizzled = true;

  constexpr int elements_per_row() const { return pitch != 0 ? pitch : column_major ? rows : cols; }
  constexpr int element_index(int i, int j) const {
    return column_major ? j * elements_per_row() + i : i * elements_per_row() + j;
  }
  constexpr int bytes_per_stage() const {
    return (element_index(rows - 1, cols - 1) + 1) * element_bytes(type);
  }
  constexpr int bytes_to_next_stage() const { return stage_pitch != 0 ? stage_pitch : bytes_per_stage(); }
};

/// The tile of a ring that holds stage number `slot` (modulo the number of stages).
inline SharedTile stage(SharedTile ring, const Affine& slot) {
  ring.slot = slot;
  return ring;
}

/// Which part of a tile a warp owns: warps are numbered m fastest, then n, then k.
/// FA2 splits rows {W,1,1}; FA1 splits keys {1,W,1} and has partial outputs {1,1,W}; a GEMM uses {m,n,1}.
struct WarpSplit {
  int m = 1;  ///< rows split over this many warps, in atoms of 16 rows: warp w owns atoms w, w+m, w+2m, ...
  int n = 1;  ///< columns split over this many warps, in atoms of 16 columns: w, w+n, ...
  int k = 1;  ///< > 1: every warp holds a whole tile, and the tile's value is the sum over these warps

  bool operator==(const WarpSplit&) const = default;
};

/// How the elements of a warp's part lie in its lanes.
enum class Layout : std::uint8_t {
  accumulator,   ///< C of mma.m16n8: 4 lanes share a row, a thread holds pairs of columns; as fp16 also
                 ///< operand A
  operand_b,     ///< B of mma.m16n8k16, loaded by LDSM; the tile is stored as keys x d (K) or keys x d (V)
  linear,        ///< 16-byte pieces in row-major order over all threads of the CTA (split is ignored)
  linear_quads,  ///< as linear in pieces of 4 elements (fp32 16 bytes, fp16 8 bytes), so that conversion
                 ///< keeps every element in its thread
  row_per_warp,  ///< a warp holds whole rows w, w+W, ...; lane l holds columns l, l+32, ... one element at a
                 ///< time; neighbouring rows of 16 columns or fewer share a warp, see row_lanes
  row_per_cta,   ///< all threads share each row, in 16-byte pieces
  element_per_thread,  ///< element e in row-major order belongs to thread e mod threads, one element at a
                       ///< time
};

/// Lanes of a warp that hold one row in the layout row_per_warp.
constexpr int row_lanes(int cols) {
  return static_cast<int>(std::min(32U, std::bit_ceil(static_cast<unsigned>(cols))));
}

/// A tile in registers. `id` is unique within one run of a program.
struct Fragment {
  int id = -1;
  int rows = 0;
  int cols = 0;
  ElementType type = ElementType::fp32;
  Layout layout = Layout::accumulator;
  WarpSplit split;
};

/// One fp32 value per row, held by every lane that holds elements of that row in the layout it was made for.
/// Between reduce_rows and finish_rows each lane holds its own part of the value.
struct RowVector {
  int id = -1;
  int rows = 0;
  Layout layout = Layout::accumulator;
  WarpSplit split;
};

}  // namespace warpscope::kernels

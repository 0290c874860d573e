// The machine that expands a CTA program into the instructions of one warp.
#pragma once

#include <array>
#include <set>
#include <string>
#include <vector>

#include "kernels/compiler/code_emitter.hpp"
#include "kernels/compiler/index_resolver.hpp"
#include "kernels/machine/plan.hpp"

namespace warpscope::kernels {

/// True for layouts with one register per element whatever its type, and accesses of one element per lane.
bool holds_single_elements(Layout layout);
/// Columns of `tile` that lie inside the tensor, as far as the tile's position tells.
std::int64_t columns_inside(const GlobalTile& tile, const TensorSpec& tensor);

/// Two 16-bit elements per register; layouts that move single elements keep one.
bool holds_pairs(const Fragment& fragment);

/// Expands operations in source order, as a compiler front end does: tile operations become instructions on
/// virtual registers, loops become ranges of basic blocks. Scheduling comes later (list_scheduler.hpp). All
/// warps of a CTA get the same program; what differs is in the affine addresses.
class TraceMachine final : public CtaMachine {
 public:
  TraceMachine(const KernelPlan& plan, const LaunchPlan& launch, const CompilerTarget& target,
               ClassTables& tables, std::size_t role = 0);

  VirtualProgram take() { return emitter_.take(); }

  Fragment fragment(int rows, int cols, ElementType type, Layout layout, WarpSplit split) override;
  RowVector row_vector(const Fragment& like) override;
  void fill(const Fragment& target, float value) override;
  void fill(const RowVector& target, float value) override;
  void fill(const Fragment& target, const RowVector& rows) override;

  void copy_async(const SharedTile& target, const GlobalTile& source) override;
  void commit_copies() override;
  void wait_copies(int pending) override;
  void barrier() override;

  void load(const Fragment& target, const GlobalTile& source) override;
  void store(const GlobalTile& target, const Fragment& source) override;
  void reduce_add(const GlobalTile& target, const Fragment& source) override;
  void add_sums(const Fragment& target, const GlobalTile& source, int registers) override;
  void load_rows(const RowVector& target, const GlobalTile& source) override;
  void read_settled(std::initializer_list<GlobalTile> numbers, const Affine& difference) override;
  void store_rows(const GlobalTile& target, const RowVector& source) override;

  void store_shared(const SharedTile& target, const Fragment& source) override;
  void load_shared(const Fragment& target, const SharedTile& source, bool transposed) override;
  void store_shared(const SharedTile& target, const RowVector& source) override;
  void load_shared(const RowVector& target, const SharedTile& source) override;
  void max_shared(const SharedTile& target, const Fragment& source) override;
  void store_parts(const SharedTile& target, const Fragment& source) override;
  void store_parts(const SharedTile& target, const RowVector& source) override;
  void load_reduced(const Fragment& target, const SharedTile& source, int parts, Reduce op) override;
  void load_reduced(const RowVector& target, const SharedTile& source, int parts, Reduce op) override;

  void mma(const Fragment& accumulator, const MmaOperand& a, const MmaOperand& b) override;

  void role(unsigned roles, const std::function<void()>& body) override;
  void mma_async(const Fragment& accumulator, const MmaOperand& a, const MmaOperand& b) override;
  void wait_mma(const Fragment& accumulator, int pending) override;
  void arrive(int ring) override;
  void wait(int ring) override;
  void copy_box(const SharedTile& target, const GlobalTile& source, int ring, int sharers) override;
  void store_box(const GlobalTile& target, const SharedTile& source, int ring) override;
  void barrier(int name, int warps) override;
  void store_matrix(const SharedTile& target, const Fragment& source, int first_col, float factor) override;

  void mask(const Fragment& scores, const Mask& mask) override;
  void add_bias(const Fragment& scores, const DistanceBias& bias) override;
  void drop(const Fragment& weights, const Dropout& dropout) override;
  void convert(const Fragment& target, const Fragment& source) override;
  void apply(const Fragment& target, UnaryOp op, const Fragment& source) override;
  void apply(const Fragment& target, BinaryOp op, const Fragment& left, const Fragment& right) override;
  void apply(const Fragment& target, BinaryOp op, const Fragment& left, float right) override;
  void apply(const Fragment& target, BinaryOp op, const Fragment& left, const RowVector& right) override;
  void multiply_add(const Fragment& target, const Fragment& left, const RowVector& factor,
                    const Fragment& addend) override;
  void exp2_scaled(const Fragment& target, float scale, const RowVector& offset) override;

  void apply(const RowVector& target, UnaryOp op, const RowVector& source) override;
  void apply(const RowVector& target, BinaryOp op, const RowVector& left, const RowVector& right) override;
  void apply(const RowVector& target, BinaryOp op, const RowVector& left, float right) override;
  void reduce_rows(const RowVector& target, Reduce op, const Fragment& source, bool accumulate) override;
  void rescaled_row_sum(const RowVector& target, const RowVector& scale, const Fragment& source) override;
  void row_dot(const RowVector& target, const Fragment& left, const Fragment& right,
               bool accumulate) override;
  void finish_rows(const RowVector& target, Reduce op) override;
  void reduce_over_threads(const RowVector& target, const SharedTile& scratch, Reduce op) override;

  void loop(const Trips& trips, const std::function<void(const Affine&)>& body,
            Code code = Code::own) override;
  void unless_last(const std::function<void()>& body) override;
  void when(int slot, const std::function<void()>& body, Code code = Code::own) override;
  void guarded(const std::function<void()>& body, Condition condition) override;
  void part(int number, int copy) override;
  void in_either_order(int number, const std::function<void()>& first,
                       const std::function<void()>& second) override;

 private:
  using Range = trace::RegisterRange;

  /// Registers of a fragment or row vector and how they are arranged.
  struct Registers {
    int first = 0;
    int count = 0;      ///< per thread
    int m_atoms = 1;    ///< accumulator: atoms of 16 rows per warp
    int row_slots = 1;  ///< values that a row vector of this layout has per thread
    int lanes = 4;      ///< row vectors: lanes of a warp that share a row
  };
  /// How a tile in registers is cut into memory instructions of one warp.
  struct Pieces {
    int count = 0;      ///< instructions per warp
    int registers = 0;  ///< per instruction
    int width = 0;      ///< bytes per thread
  };

  Range reg(const Fragment& fragment, int index, int count = 1) const;
  Range reg(const RowVector& rows, int index) const;
  int count(const Fragment& fragment) const { return at(fragment.id).count; }
  int count(const RowVector& rows) const { return at(rows.id).count; }
  const Registers& at(int id) const { return registers_[static_cast<std::size_t>(id)]; }
  int row_slot(const Fragment& fragment, int register_index) const;
  /// Whether the build keeps this register of a tile of exponentials in local memory for a while.
  bool in_local_memory(const Fragment& exponentials, int register_index) const;
  Pieces quads(const Fragment& fragment) const;
  Pieces pieces(const Fragment& fragment) const;
  int threads_per_row(Layout layout, int cols, ElementType type) const;
  /// By shuffles, after which each of `lanes` lanes has the result.
  void reduce_over_lanes(const Range& value, int lanes, Reduce op);

  /// In front of a copy, for what of it does not exist: `some`, or nothing.
  void store_zeros(bool some);

  // Global memory: instruction `index` of `instructions` per warp of an access to the whole tile.
  // `lane_bytes`: what one lane of the instruction moves.
  trace::MemoryOperand global_operand(const GlobalTile& tile, int index, int instructions, Layout layout,
                                      int lane_bytes) const;
  void keep_rows_inside(trace::MemoryOperand& operand, const GlobalTile& tile, int index,
                        int lane_bytes) const;
  /// A register with the address of an instruction's part of a tile.
  Range tile_address();
  void move_tile(const GlobalTile& tile, const Fragment& fragment, bool is_load);
  // Elementwise layouts (trace_elements.cpp).
  void move_elements(const GlobalTile& tile, const Fragment& fragment, bool is_load);
  void load_column(const GlobalTile& tile, const Fragment& fragment);
  // Shared tiles that are not swizzled (trace_elements.cpp).
  void store_elements(const SharedTile& tile, const Fragment& source);
  void load_elements(const Fragment& target, const SharedTile& tile);
  void convert_elements(const Fragment& target, const Fragment& source);
  void mask_window(const Fragment& scores);
  void fill_masked(const Fragment& target, const Fragment& values, const Fragment& mask);

  // Tensor-core operands: registers that hold A (4) or B (2) of one atom.
  struct Operand;
  void load_step(Operand& operand, int step);
  Range load_target(Operand& operand, int step, int number, int registers);

  // Arithmetic on single registers; `slow` exponentials follow MathBuild.
  void emit_tested_reciprocal(Range target, Range source);
  void emit_tested_logarithm(Range target, Range source);
  void emit_unary(UnaryOp op, Range target, Range source);
  void emit_binary(BinaryOp op, Range target, Range left, Range right);
  void emit_exp2(Range target, Range source);
  void philox_round(std::array<Range, 4>& counter);
  /// `first`: register of the weights that the first of 16 random bytes decides on.
  void cut_weights(const Fragment& weights, int first, const std::array<Range, 4>& numbers);
  void elementwise(const Fragment& target, std::initializer_list<const Fragment*> sources,
                   const std::function<void(Range, std::span<const Range>, int)>& element);

  /// While it lives, instructions are part of the operation `name`, unless they are part of one around it.
  class [[nodiscard]] Operation {
   public:
    Operation(TraceMachine& machine, std::string name);
    ~Operation();
    Operation(const Operation&) = delete;
    Operation& operator=(const Operation&) = delete;

   private:
    TraceMachine& machine_;
  };
  /// `what` and the tensor of the tile.
  std::string named(const char* what, const GlobalTile& tile) const;

  void materialise_zeros();
  void end_block(BlockEnd end);
  void open_region(const VirtualLoop& region);
  void close_region();

  const KernelPlan& plan_;
  const LaunchPlan& launch_;
  const CompilerTarget& target_;
  ClassTables& tables_;
  std::size_t role_;  ///< whose program this is
  int warps_;         ///< that the tiles of what is being lowered are dealt out over
  IndexResolver resolver_;
  CodeEmitter emitter_;
  std::vector<Registers> registers_;
  std::set<int> zero_accumulators_;  ///< fragments whose fill with 0 the first HMMA makes unnecessary
  int open_operations_ = 0;
  bool tail_ = false;  ///< expanding the last iteration of the innermost loop
  bool saw_unless_last_ = false;
};

}  // namespace warpscope::kernels

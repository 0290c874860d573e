// The machine that computes: runs a CTA program with real numbers, rounded where the hardware rounds them.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "kernels/machine/machine.hpp"
#include "kernels/machine/plan.hpp"
#include "kernels/numeric/cta_position.hpp"
#include "kernels/numeric/flop_count.hpp"
#include "kernels/numeric/numeric_store.hpp"

namespace warpscope::kernels {

/// One CTA. Tiles are held as wholes; row vectors keep one value per lane, partial tiles one tile per warp,
/// and asynchronous copies become readable only after the wait and the barrier, so that a program that
/// forgets a reduction or a wait computes wrong numbers here too.
class NumericMachine final : public CtaMachine {
 public:
  NumericMachine(std::vector<NumericTensor>& tensors, const LaunchPlan& launch, CtaPosition position,
                 FlopCount& flops);

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

  void loop(const Trips& trips, const std::function<void(const Affine& iteration)>& body,
            Code code = Code::own) override;
  void unless_last(const std::function<void()>& body) override;
  void when(int slot, const std::function<void()>& body, Code code = Code::own) override;
  void guarded(const std::function<void()>& body, Condition /*condition*/) override { body(); }
  void part(int /*number*/, int /*copy*/) override {}
  void in_either_order(int /*number*/, const std::function<void()>& first,
                       const std::function<void()>& second) override {
    first();
    second();
  }

 private:
  /// Where a row of a tensor is, whose pages may lie elsewhere.
  struct Place {
    std::int64_t segment;
    std::int64_t row;
  };
  Place place(const GlobalTile& tile, std::int64_t segment, std::int64_t row);
  struct SharedWrite {
    std::size_t address;
    ElementType type;
    float value;
    std::uint32_t since;  ///< barriers passed when the copy was issued
  };

  TileValues& tile(const Fragment& fragment);
  RowValues& row(const RowVector& vector);
  /// The lanes of `fragment`; throws std::logic_error unless `vector` lives in the same lanes.
  LaneMap lanes_of(const Fragment& fragment, const RowVector& vector);
  DenseMatrix operand(const MmaOperand& operand, int rows, int cols);
  std::size_t shared_address(const SharedTile& tile);
  /// Arrivals, copied bytes and waits at a ring, in the order of the program.
  struct RingState {
    int arrivals = 0;
    std::int64_t bytes = 0;
    int waits = 0;
  };
  const trace::MbarrierRing& ring(int number) const;

  void update_tile(const Fragment& target, const Fragment& source,
                   const std::function<float(float)>& compute);
  void update_rows(const RowVector& target, const RowVector& source,
                   const std::function<float(float)>& compute);

  std::vector<NumericTensor>& tensors_;
  const LaunchPlan& launch_;
  CtaPosition position_;
  FlopCount& flops_;
  int threads_;
  NumericSharedMemory shared_;
  int role_warps_;  ///< of the roles that run now
  std::vector<RingState> rings_;
  std::vector<TileValues> tiles_;
  std::vector<RowValues> rows_;
  std::vector<SharedWrite> open_group_;
  std::vector<std::vector<SharedWrite>> pending_groups_;  ///< oldest first
  std::vector<SharedWrite> landed_;                       ///< complete, readable from the next barrier on
};

}  // namespace warpscope::kernels

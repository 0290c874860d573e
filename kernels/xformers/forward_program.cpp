// attention_kernel of CUTLASS example 41, kernel_forward.h, which xformers and PyTorch have too.
#include "kernels/xformers/forward_program.hpp"

#include <cmath>
#include <numbers>

#include "kernels/xformers/build_figures.hpp"
#include "kernels/xformers/forward_tiles.hpp"
#include "kernels/xformers/shared_softmax.hpp"
#include "kernels/xformers/staged_product.hpp"

namespace warpscope::kernels::xformers {
namespace {

/// One visit of a key block.
struct KeyBlock {
  Affine number;
  bool first = false;  ///< no earlier output to add to
  bool last = false;
};

class Forward {
 public:
  Forward(CtaMachine& machine, const ForwardShape& shape)
      : m_(machine),
        shape_(shape),
        tile_(shape.tile),
        tiles_(shape),
        softmax_(machine, shape),
        output_(accumulator(tile_.output_cols())) {}

  void run() {
    m_.part(kPrologue);
    softmax_.start();
    if (tile_.keeps_output()) {
      run_with_output_in_registers();
    } else {
      run_with_output_in_memory();
    }
    m_.part(kLogSumExp);
    m_.guarded([&] { m_.store_rows(tiles_.queries(kLse, 0, 1), softmax_.log_sum_exp()); });
  }

 private:
  // The source has one loop over key blocks, and branches around the mask and what the first and the last do
  // otherwise. Here these have texts of their own.
  void run_with_output_in_registers() {
    m_.fill(output_, 0);
    m_.loop(kWholeBlocks, [&](const Affine& block) { key_block({block}); });
    if (shape_.cuts_last_block) {
      key_block({class_symbol(kLastBlock), false, true});
    }
    m_.part(kEpilogue);
    m_.wait_copies(0);
    store_normalised(whole_rows(), 0);
  }

  void run_with_output_in_memory() {
    m_.when(kOnlyBlock, [&] { key_block({0, true, true}); });
    m_.when(
        kSeveralBlocks,
        [&] {
          key_block({0, true, false});
        },
        Code::of_loop_before);
    m_.loop(
        kWholeBlocks,
        [&](const Affine& block) {
          key_block({block + 1, false, false});
        },
        Code::of_loop_before);
    m_.when(
        kSeveralBlocks,
        [&] {
          key_block({class_symbol(kLastBlock), false, true});
        },
        Code::of_loop_before);
  }

  Fragment accumulator(int cols) const {
    return m_.fragment(tile_.queries, cols, ElementType::fp32, Layout::accumulator, tile_.split());
  }

  void key_block(const KeyBlock& block) const {
    m_.part(kScores);
    m_.barrier();  // what the softmax before has left is there, and everybody is done with V
    const Fragment s = accumulator(tile_.keys);
    score(s, block);
    m_.part(kMaximum);
    start_copies(m_, weighted_values(block, 0));
    m_.apply(s, BinaryOp::multiply, s, scale());
    m_.part(kBranches);
    if (block.last && shape_.cuts_last_block) {
      m_.loop(kMasks, [&](const Affine&) {
        m_.part(kMask);
        m_.mask(s, tiles_.mask(block.number));
      });
    }
    m_.apply(s, BinaryOp::multiply, s, std::numbers::log2e_v<float>);
    softmax_.step(s, tile_.keeps_output() ? &output_ : nullptr);

    const Fragment p =
        m_.fragment(tile_.queries, tile_.keys, shape_.type, Layout::accumulator, tile_.split());
    m_.convert(p, s);
    m_.store_shared(tiles_.p(), p);
    m_.barrier();
    for (int value_block = 0; value_block < shape_.value_blocks(); ++value_block) {
      add_weighted_values(block, value_block);
    }
    m_.barrier();
    m_.part(kNextBlock);
  }

  /// S = Q K^T. Q comes from global memory again for every key block.
  void score(const Fragment& s, const KeyBlock& block) const {
    m_.part(kQueryAddresses);
    const StagedProduct product{
        shape_.score_slices(), tile_.score_copies_ahead(), kScoreSlice,
        [&](const Affine& slice) {
          m_.copy_async(tiles_.q_slice(slice), tiles_.queries(kQ, slice * kSliceDepth, kSliceDepth));
          m_.copy_async(tiles_.k_slice(slice), tiles_.k_slice_source(block.number, slice));
        },
        [&](const Affine& slice) { m_.mma(s, tiles_.q_slice(slice), transposed(tiles_.k_slice(slice))); }};
    start_copies(m_, product);
    m_.fill(s, 0);
    multiply_slices(m_, product, kRollingSlices);
    m_.barrier();
  }

  /// O += P V, of one block of columns.
  StagedProduct weighted_values(const KeyBlock& block, int value_block) const {
    return {tile_.key_slices(), tile_.key_slices(), kOutputSlice,
            [this, block, value_block](const Affine& slice) {
              m_.copy_async(tiles_.v_slice(slice),
                            tiles_.v_slice_source(block.number, slice, value_block * tile_.output_cols()));
            },
            [this, block](const Affine& slice) {
              const int number = static_cast<int>(slice.constant);  // all are there: no loop
              const auto multiply = [&] { m_.mma(output_, tiles_.p_slice(number), tiles_.v_slice(slice)); };
              const bool may_lack_keys = block.last && number >= shape_.fewest_slices;
              if (may_lack_keys) {
                m_.when(kSliceExists + number, multiply);
              } else {
                multiply();
              }
            }};
  }

  void add_weighted_values(const KeyBlock& block, int value_block) const {
    m_.part(kOutput);
    if (!tile_.keeps_output()) {
      m_.fill(output_, 0);
    }
    multiply_slices(m_, weighted_values(block, value_block), kRollingSlices);
    m_.barrier();
    if (tile_.keeps_output()) {
      return;
    }
    m_.part(kAccumulate);
    merge_output(block, value_block * tile_.output_cols());
    m_.barrier();
    if (value_block + 1 < shape_.value_blocks()) {
      m_.part(kNextValues);
      start_copies(m_, weighted_values(block, value_block + 1));
    }
  }

  /// The output so far comes from memory and goes back there, or is done.
  void merge_output(const KeyBlock& block, int first_col) const {
    const GlobalTile waiting = tiles_.queries(kAccumulator, first_col, tile_.output_cols());
    const Fragment earlier = output_rows(ElementType::fp32);
    if (!block.first) {
      m_.load(earlier, waiting);
    }
    const Fragment rows = whole_rows();
    if (!block.first) {
      m_.multiply_add(rows, earlier, softmax_.rescaling(rows), rows);
    }
    if (block.last) {
      store_normalised(rows, first_col);
    } else {
      m_.store(waiting, rows);
    }
  }

  Fragment output_rows(ElementType type) const {
    return m_.fragment(tile_.queries, tile_.output_cols(), type, Layout::linear_quads, {});
  }

  /// The output as whole rows: threads have other rows than in the products.
  Fragment whole_rows() const {
    m_.store_shared(tiles_.output(), output_);
    m_.barrier();
    const Fragment rows = output_rows(ElementType::fp32);
    m_.load_shared(rows, tiles_.output());
    return rows;
  }

  void store_normalised(const Fragment& rows, int first_col) const {
    m_.apply(rows, BinaryOp::multiply, rows, softmax_.inverse_sums(rows));
    const Fragment rounded = output_rows(shape_.type);
    m_.convert(rounded, rows);
    m_.store(tiles_.queries(kO, first_col, tile_.output_cols()), rounded);
  }

  float scale() const {
    return static_cast<float>(1.0 / std::sqrt(static_cast<double>(shape_.problem.head_dim)));
  }

  CtaMachine& m_;
  const ForwardShape& shape_;
  const ForwardTile& tile_;
  ForwardTiles tiles_;
  SharedSoftmax softmax_;
  Fragment output_;
};

}  // namespace

void forward_program(CtaMachine& machine, const ForwardShape& shape) {
  Forward(machine, shape).run();
}

}  // namespace warpscope::kernels::xformers

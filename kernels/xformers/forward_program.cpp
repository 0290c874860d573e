// attention_kernel of CUTLASS example 41, kernel_forward.h, which xformers and PyTorch have too.
#include "kernels/xformers/forward_program.hpp"

#include <cmath>
#include <numbers>

#include "kernels/xformers/build_figures.hpp"
#include "kernels/xformers/shared_softmax.hpp"
#include "kernels/xformers/staged_product.hpp"

namespace warpscope::kernels::xformers {
namespace {

class Forward {
 public:
  Forward(CtaMachine& machine, const ForwardShape& shape)
      : m_(machine),
        shape_(shape),
        tile_(shape.tile),
        softmax_(machine, shape),
        output_(accumulator(tile_.head_dim)) {}

  void run() {
    m_.part(kPrologue);
    softmax_.start();
    m_.fill(output_, 0);
    m_.loop(kWholeBlocks, [&](const Affine& block) { key_block(block, false); });
    // The source has one loop and a branch around the mask.
    if (shape_.cuts_last_block) {
      key_block(class_symbol(kLastBlock), true);
    }
    epilogue();
  }

 private:
  Fragment accumulator(int cols) const {
    return m_.fragment(tile_.queries, cols, ElementType::fp32, Layout::accumulator, tile_.split());
  }

  void key_block(const Affine& block, bool is_cut) const {
    m_.part(kScores);
    m_.barrier();  // what the softmax before has left is there, and everybody is done with V
    const Fragment s = accumulator(tile_.keys);
    score(s, block);
    const StagedProduct product = weighted_values(block, is_cut);
    m_.part(kMaximum);
    start_copies(m_, product);
    m_.apply(s, BinaryOp::multiply, s, scale());
    m_.part(kBranches);
    if (is_cut) {
      m_.loop(kMasks, [&](const Affine&) {
        m_.part(kMask);
        m_.mask(s, mask(block));
      });
    }
    m_.apply(s, BinaryOp::multiply, s, std::numbers::log2e_v<float>);
    softmax_.step(s, output_);

    const Fragment p =
        m_.fragment(tile_.queries, tile_.keys, shape_.type, Layout::accumulator, tile_.split());
    m_.convert(p, s);
    m_.store_shared(probabilities(0, tile_.keys), p);
    m_.barrier();
    m_.part(kOutput);
    multiply_slices(m_, product);
    m_.barrier();
    m_.barrier();
    m_.part(kNextBlock);
  }

  /// S = Q K^T. Q comes from global memory again for every key block.
  void score(const Fragment& s, const Affine& block) const {
    m_.part(kQueryAddresses);
    const int slices = static_cast<int>((shape_.problem.head_dim + kSliceDepth - 1) / kSliceDepth);
    const StagedProduct product{
        slices, kScoreSlice,
        [&](int slice) {
          m_.copy_async(q_slice(slice), queries(kQ, slice * kSliceDepth, kSliceDepth));
          m_.copy_async(k_slice(slice), keys(kK, block * tile_.keys, tile_.keys, slice * kSliceDepth));
        },
        [&](int slice) { m_.mma(s, q_slice(slice), transposed(k_slice(slice))); }};
    start_copies(m_, product);
    m_.fill(s, 0);
    multiply_slices(m_, product);
    m_.barrier();
  }

  /// O += P V.
  StagedProduct weighted_values(const Affine& block, bool is_cut) const {
    return {tile_.key_slices(), kOutputSlice,
            [this, block](int slice) {
              m_.copy_async(v_slice(slice),
                            keys(kV, block * tile_.keys + slice * kSliceDepth, kSliceDepth, 0));
            },
            [this, is_cut](int slice) {
              const auto multiply = [&] {
                m_.mma(output_, probabilities(slice * kSliceDepth, kSliceDepth), v_slice(slice));
              };
              if (is_cut && slice >= shape_.fewest_slices) {
                m_.when(kSliceExists + slice, multiply);
              } else {
                multiply();
              }
            }};
  }

  void epilogue() const {
    m_.part(kEpilogue);
    m_.wait_copies(0);
    // Whole rows for global memory; threads have other rows than in the products.
    const SharedTile shared{shape_.layout.output, tile_.queries, tile_.head_dim, ElementType::fp32, 1, {}};
    m_.store_shared(shared, output_);
    m_.barrier();
    const Fragment rows =
        m_.fragment(tile_.queries, tile_.head_dim, ElementType::fp32, Layout::linear_quads, {});
    m_.load_shared(rows, shared);
    m_.apply(rows, BinaryOp::multiply, rows, softmax_.inverse_sums(rows));
    const Fragment rounded =
        m_.fragment(tile_.queries, tile_.head_dim, shape_.type, Layout::linear_quads, {});
    m_.convert(rounded, rows);
    m_.store(queries(kO, 0, tile_.head_dim), rounded);
    m_.guarded([&] { m_.store_rows(queries(kLse, 0, 1), softmax_.log_sum_exp()); });
  }

  float scale() const {
    return static_cast<float>(1.0 / std::sqrt(static_cast<double>(shape_.problem.head_dim)));
  }

  Mask mask(const Affine& block) const {
    return {block_index(0) * tile_.queries, block * tile_.keys, shape_.problem.seqlen_k,
            shape_.problem.causal, 0};
  }

  Affine segment() const { return block_index(2) * shape_.problem.heads + block_index(1); }
  GlobalTile queries(int tensor, int first_col, int cols) const {
    return {tensor, segment(), block_index(0) * tile_.queries, first_col, tile_.queries, cols};
  }
  GlobalTile keys(int tensor, const Affine& first_row, int rows, int first_col) const {
    const int cols = tensor == kK ? kSliceDepth : tile_.head_dim;
    return {tensor, segment(), first_row, first_col, rows, cols};
  }

  SharedTile q_slice(int slice) const {
    return stage({shape_.layout.q, tile_.queries, kSliceDepth, shape_.type, tile_.query_slices(), {}}, slice);
  }
  SharedTile k_slice(int slice) const {
    return stage({shape_.layout.k, tile_.keys, kSliceDepth, shape_.type, tile_.query_slices(), {}}, slice);
  }
  SharedTile v_slice(int slice) const {
    return stage({shape_.layout.v, kSliceDepth, tile_.head_dim, shape_.type, tile_.key_slices(), {}}, slice);
  }
  SharedTile probabilities(int first_col, int cols) const {
    SharedTile result{shape_.layout.probabilities + first_col * element_bytes(shape_.type),
                      tile_.queries,
                      cols,
                      shape_.type,
                      1,
                      {}};
    result.pitch = shape_.layout.probability_pitch;
    return result;
  }

  CtaMachine& m_;
  const ForwardShape& shape_;
  const ForwardTile& tile_;
  SharedSoftmax softmax_;
  Fragment output_;
};

}  // namespace

void forward_program(CtaMachine& machine, const ForwardShape& shape) {
  Forward(machine, shape).run();
}

}  // namespace warpscope::kernels::xformers

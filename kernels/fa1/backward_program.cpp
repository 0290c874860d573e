// In the order of csrc/flash_attn/src/fmha_dgrad_kernel_1xN_loop.h.
#include "kernels/fa1/backward_program.hpp"

#include <cmath>
#include <numbers>

namespace warpscope::kernels::fa1 {
namespace {

constexpr float kLog2E = std::numbers::log2e_v<float>;
constexpr WarpSplit kByKeys{1, kBackwardWarps, 1};
constexpr WarpSplit kKeyRows{kBackwardWarps, 1, 1};
constexpr WarpSplit kPartial{1, 1, kBackwardWarps};
constexpr int kStepsSlot = 0;  // the only trip slot of a sequence-parallel CTA

}  // namespace

BackwardProgram::BackwardProgram(const Problem& problem, const BackwardConfig& config,
                                 const Schedule& schedule)
    : config_(config),
      schedule_(schedule),
      problem_(problem),
      segment_(block_index(0) * problem.heads + block_index(1)),
      type_(problem.dtype == DataType::fp16 ? ElementType::fp16 : ElementType::bf16),
      scale_(static_cast<float>(1.0 / std::sqrt(static_cast<double>(problem.head_dim)))) {}

Fragment BackwardProgram::scores(CtaMachine& m, ElementType type) const {
  return m.fragment(config_.blocks.step_rows, config_.blocks.block_keys, type, Layout::accumulator, kByKeys);
}
Fragment BackwardProgram::rows_of_queries(CtaMachine& m) const {
  return m.fragment(config_.blocks.step_rows, config_.blocks.head_dim, type_, Layout::linear, {});
}
Fragment BackwardProgram::grad_q_pieces(CtaMachine& m, ElementType type) const {
  const Config& blocks = config_.blocks;
  return blocks.options.split_q
             ? m.fragment(blocks.step_rows, blocks.head_dim, type, Layout::accumulator,
                          config_.grad_q_split())
             : m.fragment(blocks.step_rows, blocks.head_dim, type, Layout::linear_quads, {});
}

GlobalTile BackwardProgram::queries(BackwardTensor tensor, const Affine& row) const {
  return {tensor, segment_, row, 0, config_.blocks.step_rows, config_.blocks.head_dim};
}
GlobalTile BackwardProgram::query_values(BackwardTensor tensor, const Affine& row) const {
  return {tensor, segment_, row, 0, config_.blocks.step_rows, 1, OutOfRange::leave};
}
GlobalTile BackwardProgram::keys(BackwardTensor tensor, const Affine& row) const {
  return {tensor, segment_, row, 0, config_.blocks.block_keys, config_.blocks.head_dim};
}

SharedTile BackwardProgram::query_tile(int offset, const Affine& buffer) const {
  return stage({offset, config_.blocks.step_rows, config_.blocks.head_dim, type_, 2, {}}, buffer);
}
SharedTile BackwardProgram::key_tile(int offset) const {
  return {offset, config_.blocks.block_keys, config_.blocks.head_dim, type_, 1, {}};
}
SharedTile BackwardProgram::score_tile(int offset) const {
  return {offset, config_.blocks.step_rows, config_.blocks.block_keys, type_, 1, {}};
}
SharedTile BackwardProgram::parts_of_grad_q() const {
  return {config_.partial_offset,
          kBackwardWarps * config_.blocks.step_rows,
          config_.blocks.head_dim,
          ElementType::fp32,
          1,
          {}};
}

void BackwardProgram::operator()(CtaMachine& m) const {
  if (config_.sequence_parallel) {
    one_block(m);
    return;
  }
  Resident resident;
  Affine first_key;
  walk_interleaved(
      m, config_.blocks, schedule_, problem_.causal,
      {[&](const KeyBlockVisit& visit) {
         resident = load_key_block(m, visit);
         first_key = visit.first_key;
       },
       [&](const Step& one) { step(m, resident, one); }, [&] { write_grad_keys(m, resident, first_key); }});
}

void BackwardProgram::one_block(CtaMachine& m) const {
  const int rows = config_.blocks.step_rows;
  const Affine first_key = block_index(2) * config_.blocks.block_keys;
  const Affine first_row = problem_.causal ? first_key : Affine(0);
  const Resident resident = load_key_block(m, {first_key, first_row, false});
  m.loop(kStepsSlot, [&](const Affine& iteration) {
    const Affine row = first_row + iteration * rows;
    step(m, resident, {row, row + rows, iteration, first_key, false, true, true});
  });
  write_grad_keys(m, resident, first_key);
}

BackwardProgram::Fetched BackwardProgram::fetched_queries(CtaMachine& m, const Affine& buffer,
                                                          bool first) const {
  const bool async = config_.blocks.options.cp_async;
  return {{query_tile(0, buffer), rows_of_queries(m), async},
          {query_tile(config_.grad_o_offset, buffer), rows_of_queries(m), async && !first},
          rows_of_queries(m)};
}

void BackwardProgram::arrive(CtaMachine& m) const {
  if (config_.blocks.options.cp_async) {
    m.commit_copies();
    m.wait_copies(0);
  }
}

BackwardProgram::Resident BackwardProgram::load_key_block(CtaMachine& m, const KeyBlockVisit& visit) const {
  const int block_keys = config_.blocks.block_keys;
  const int d = config_.blocks.head_dim;
  const Fragment s = scores(m, ElementType::fp32);
  Resident resident{m.fragment(block_keys, d, ElementType::fp32, Layout::accumulator, kKeyRows),
                    m.fragment(block_keys, d, ElementType::fp32, Layout::accumulator, kKeyRows),
                    key_tile(config_.v_offset), m.row_vector(s), m.row_vector(s)};
  // K takes the place of V where V moves on to registers.
  const bool async = config_.blocks.options.cp_async && !config_.v_in_registers;
  const variants::TileTransfer k{key_tile(config_.k_offset),
                                 m.fragment(block_keys, d, type_, Layout::linear, {}), async};
  const variants::TileTransfer v{key_tile(config_.v_offset),
                                 m.fragment(block_keys, d, type_, Layout::linear, {}), async};
  const Fetched first = fetched_queries(m, 0, visit.first);
  const GlobalTile row_products = query_values(kRowProducts, visit.first_row);
  const auto let_others_finish = [&] {
    if (!visit.first && !config_.sequence_parallel) {
      m.barrier();  // everybody has read the gradients of the block before
    }
  };

  m.part(kBackKeyBlock, copy_of_block(visit.first));
  if (config_.blocks.options.cp_async) {
    let_others_finish();
  }
  k.start(m, keys(kBackK, visit.first_key));
  first.q.start(m, queries(kBackQ, visit.first_row));
  v.start(m, keys(kBackV, visit.first_key));
  first.grad_o.start(m, queries(kBackGradO, visit.first_row));
  if (visit.first) {
    m.load(first.o, queries(kBackO, visit.first_row));
  }
  m.load_rows(resident.lse, query_values(kBackLse, visit.first_row));
  if (!visit.first) {
    m.load_rows(resident.row_products, row_products);
  }
  if (!config_.blocks.options.cp_async) {
    let_others_finish();
  }
  first.q.finish(m);
  first.grad_o.finish(m);
  if (visit.first) {
    store_row_products(m, row_products, first.grad_o.rows, first.o);
  }
  v.finish(m);
  if (config_.v_in_registers) {
    const Fragment copy = m.fragment(block_keys, d, type_, Layout::operand_b, kByKeys);
    m.barrier();
    m.load_shared(copy, key_tile(config_.v_offset));
    m.barrier();
    resident.v = copy;
  }
  k.finish(m);
  arrive(m);
  m.barrier();
  if (visit.first) {
    m.load_rows(resident.row_products, row_products);  // which other threads have stored
  }
  m.fill(resident.grad_k, 0);
  m.fill(resident.grad_v, 0);
  return resident;
}

void BackwardProgram::guarded(CtaMachine& m, const Step& step, const std::function<void()>& access) {
  m.guarded(
      [&] {
        m.part(kBackAddress, copy_of_block(step.first));
        access();
      },
      Condition::of_iteration);
}

void BackwardProgram::step(CtaMachine& m, const Resident& resident, const Step& step) const {
  const Fetched next = fetched_queries(m, step.buffer + 1, step.first);
  const SharedTile q = query_tile(0, step.buffer);
  const SharedTile grad_o = query_tile(config_.grad_o_offset, step.buffer);

  const Fragment p = probabilities(m, resident, step);
  guarded(m, step, [&] { next.q.start(m, queries(kBackQ, step.next_row)); });
  const Fragment grad_s = grad_probabilities(m, resident, step, next);
  m.part(kBackProducts, copy_of_block(step.first));
  m.apply(grad_s, BinaryOp::multiply, p, grad_s);
  const Fragment packed = scores(m, type_);
  m.convert(packed, grad_s);
  m.store_shared(score_tile(config_.grad_s_offset), packed);
  const Fragment product = product_for_grad_q(m, packed);
  const auto finish_queries = [&] {
    m.guarded([&] { next.q.finish(m); });
    m.mma(resident.grad_v, transposed(score_tile(config_.p_offset)), grad_o);
  };
  const Fragment previous = grad_q_pieces(m, ElementType::fp32);
  const auto load_previous = [&] {
    if (adds_to_earlier(step)) {
      m.load(previous, queries(kGradQSum, step.row));
    }
  };
  const BlockKind block = kind_of_block(step.first, step.is_final);
  m.in_either_order(
      order_of(kLoadLse, block),
      [&] { m.in_either_order(order_of(kLoadEarlierGradQ, block), finish_queries, load_previous); },
      [&] { m.load_rows(resident.lse, query_values(kBackLse, step.next_row)); });
  m.guarded([&] {
    next.grad_o.finish(m);
    if (step.first) {
      store_row_products(m, query_values(kRowProducts, step.next_row), next.grad_o.rows, next.o);
    }
  });
  m.part(kBackGradK, copy_of_block(step.first));
  m.mma(resident.grad_k, transposed(score_tile(config_.grad_s_offset)), q);
  arrive(m);
  m.barrier();  // the parts of dQ are there, and the next queries; everybody is done with dS
  guarded(m, step, [&] { m.load_rows(resident.row_products, query_values(kRowProducts, step.next_row)); });
  write_grad_q(m, step, product, previous);
}

Fragment BackwardProgram::product_for_grad_q(CtaMachine& m, const Fragment& grad_s) const {
  const SharedTile k = key_tile(config_.k_offset);
  if (config_.blocks.options.split_q) {
    const Fragment piece = grad_q_pieces(m, ElementType::fp32);
    m.barrier();  // dS of all warps is there
    m.fill(piece, 0);
    m.mma(piece, score_tile(config_.grad_s_offset), k);
    return piece;
  }
  const Fragment partial = m.fragment(config_.blocks.step_rows, config_.blocks.head_dim, ElementType::fp32,
                                      Layout::accumulator, kPartial);
  m.fill(partial, 0);
  m.mma(partial, grad_s, k);
  m.barrier();  // the parts of the step before have been read
  m.store_parts(parts_of_grad_q(), partial);
  return partial;
}

Fragment BackwardProgram::probabilities(CtaMachine& m, const Resident& resident, const Step& step) const {
  const Fragment s = scores(m, ElementType::fp32);
  m.part(kBackScores, copy_of_block(step.first));
  m.fill(s, 0);
  m.mma(s, query_tile(0, step.buffer), transposed(key_tile(config_.k_offset)));
  if (is_masked(config_.blocks, problem_, step)) {
    m.mask(s, {step.row, step.first_key, problem_.seqlen_k, problem_.causal, 0});
  }
  const RowVector offset = m.row_vector(s);
  m.apply(offset, UnaryOp::zero_if_minus_infinity, resident.lse);
  m.apply(offset, BinaryOp::multiply, offset, kLog2E);
  m.exp2_scaled(s, scale_ * kLog2E, offset);
  const Fragment packed = scores(m, type_);
  m.convert(packed, s);
  m.store_shared(score_tile(config_.p_offset), packed);
  return s;
}

Fragment BackwardProgram::grad_probabilities(CtaMachine& m, const Resident& resident, const Step& step,
                                             const Fetched& next) const {
  const Fragment grad_p = scores(m, ElementType::fp32);
  const RowVector negative = m.row_vector(grad_p);
  m.part(kBackGradP, copy_of_block(step.first));
  m.apply(negative, BinaryOp::multiply, resident.row_products, -1.0F);
  m.fill(grad_p, negative);
  m.mma(grad_p, query_tile(config_.grad_o_offset, step.buffer), transposed(resident.v));
  guarded(m, step, [&] {
    next.grad_o.start(m, queries(kBackGradO, step.next_row));
    if (step.first) {
      m.load(next.o, queries(kBackO, step.next_row));
    }
  });
  return grad_p;
}

void BackwardProgram::write_grad_q(CtaMachine& m, const Step& step, const Fragment& product,
                                   const Fragment& previous) const {
  const bool owns_pieces = config_.blocks.options.split_q;
  const Fragment sum = owns_pieces ? product : grad_q_pieces(m, ElementType::fp32);
  if (!owns_pieces) {
    m.load_reduced(sum, parts_of_grad_q(), kBackwardWarps, Reduce::sum);
  }
  if (adds_to_earlier(step)) {
    m.apply(sum, BinaryOp::add, sum, previous);
  }
  if (!step.is_final) {
    guarded(m, step, [&] { m.store(queries(kGradQSum, step.row), sum); });
    return;
  }
  if (config_.sequence_parallel && owns_pieces) {
    m.reduce_add(queries(kGradQSum, step.row), sum);  // FlashAttention-2's conversion scales the sums
    return;
  }
  m.apply(sum, BinaryOp::multiply, sum, scale_);
  if (config_.sequence_parallel) {
    guarded(m, step, [&] { m.reduce_add(queries(kGradQSum, step.row), sum); });
    return;
  }
  const Fragment rounded = grad_q_pieces(m, type_);
  m.convert(rounded, sum);
  guarded(m, step, [&] { m.store(queries(kGradQ, step.row), rounded); });
}

void BackwardProgram::write_grad_keys(CtaMachine& m, const Resident& resident,
                                      const Affine& first_key) const {
  m.part(kBackGradients);
  m.apply(resident.grad_k, BinaryOp::multiply, resident.grad_k, scale_);
  m.barrier();  // everybody is done with what lies in shared memory
  SharedTile tile = key_tile(0);
  for (const Fragment& gradient : {resident.grad_v, resident.grad_k}) {
    const Fragment packed =
        m.fragment(gradient.rows, gradient.cols, type_, Layout::accumulator, gradient.split);
    m.convert(packed, gradient);
    m.store_shared(tile, packed);
    tile.byte_offset += tile.bytes_per_stage();
  }
  m.barrier();
  tile = key_tile(0);
  for (const BackwardTensor tensor : {kGradV, kGradK}) {
    const Fragment rows = m.fragment(tile.rows, tile.cols, type_, Layout::linear, {});
    m.load_shared(rows, tile);
    m.store(keys(tensor, first_key), rows);
    tile.byte_offset += tile.bytes_per_stage();
  }
}

void store_row_products(CtaMachine& m, const GlobalTile& target, const Fragment& grad_o, const Fragment& o) {
  const RowVector products = m.row_vector(grad_o);
  m.row_dot(products, grad_o, o, false);
  m.finish_rows(products, Reduce::sum);
  m.apply(products, BinaryOp::multiply, products, 1.0F);  // the share that dropout keeps
  m.store_rows(target, products);
}

}  // namespace warpscope::kernels::fa1

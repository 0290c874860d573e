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
Fragment BackwardProgram::grad_q_rows(CtaMachine& m, ElementType type) const {
  return m.fragment(config_.blocks.step_rows, config_.blocks.head_dim, type, Layout::linear_quads, {});
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

BackwardProgram::Resident BackwardProgram::load_key_block(CtaMachine& m, const KeyBlockVisit& visit) const {
  const int block_keys = config_.blocks.block_keys;
  const int d = config_.blocks.head_dim;
  const Fragment s = scores(m, ElementType::fp32);
  Resident resident{m.fragment(block_keys, d, ElementType::fp32, Layout::accumulator, kKeyRows),
                    m.fragment(block_keys, d, ElementType::fp32, Layout::accumulator, kKeyRows),
                    key_tile(config_.v_offset), m.row_vector(s), m.row_vector(s)};
  const Fragment k = m.fragment(block_keys, d, type_, Layout::linear, {});
  const Fragment v = m.fragment(block_keys, d, type_, Layout::linear, {});
  const Fetched first{rows_of_queries(m), rows_of_queries(m), rows_of_queries(m)};
  const GlobalTile row_products = query_values(kRowProducts, visit.first_row);

  m.part(kBackKeyBlock, copy_of_block(visit.first));
  m.load(k, keys(kBackK, visit.first_key));
  m.load(first.q, queries(kBackQ, visit.first_row));
  m.load(v, keys(kBackV, visit.first_key));
  m.load(first.grad_o, queries(kBackGradO, visit.first_row));
  if (visit.first) {
    m.load(first.o, queries(kBackO, visit.first_row));
  }
  m.load_rows(resident.lse, query_values(kBackLse, visit.first_row));
  if (!visit.first) {
    m.load_rows(resident.row_products, row_products);
    if (!config_.sequence_parallel) {
      m.barrier();  // everybody has read the gradients of the block before
    }
  }
  m.store_shared(query_tile(0, 0), first.q);
  m.store_shared(query_tile(config_.grad_o_offset, 0), first.grad_o);
  if (visit.first) {
    store_row_products(m, row_products, first.grad_o, first.o);
  }
  m.store_shared(key_tile(config_.v_offset), v);
  if (config_.v_in_registers) {
    const Fragment copy = m.fragment(block_keys, d, type_, Layout::operand_b, kByKeys);
    m.barrier();
    m.load_shared(copy, key_tile(config_.v_offset));
    m.barrier();
    resident.v = copy;
  }
  m.store_shared(key_tile(config_.k_offset), k);
  m.barrier();
  if (visit.first) {
    m.load_rows(resident.row_products, row_products);  // which other threads have stored
  }
  m.fill(resident.grad_k, 0);
  m.fill(resident.grad_v, 0);
  return resident;
}

void BackwardProgram::step(CtaMachine& m, const Resident& resident, const Step& step) const {
  const Fetched next{rows_of_queries(m), rows_of_queries(m), rows_of_queries(m)};
  const SharedTile q = query_tile(0, step.buffer);
  const SharedTile grad_o = query_tile(config_.grad_o_offset, step.buffer);

  const Fragment p = probabilities(m, resident, step);
  m.guarded([&] { m.load(next.q, queries(kBackQ, step.next_row)); });
  const Fragment grad_s = grad_probabilities(m, resident, step, next);
  m.part(kBackProducts, copy_of_block(step.first));
  m.apply(grad_s, BinaryOp::multiply, p, grad_s);
  const Fragment packed = scores(m, type_);
  m.convert(packed, grad_s);
  m.store_shared(score_tile(config_.grad_s_offset), packed);
  const Fragment partial = m.fragment(config_.blocks.step_rows, config_.blocks.head_dim, ElementType::fp32,
                                      Layout::accumulator, kPartial);
  m.fill(partial, 0);
  m.mma(partial, packed, key_tile(config_.k_offset));
  m.barrier();  // the parts of the step before have been read
  m.store_parts(parts_of_grad_q(), partial);
  m.mma(resident.grad_v, transposed(score_tile(config_.p_offset)), grad_o);
  m.guarded([&] { m.store_shared(query_tile(0, step.buffer + 1), next.q); });
  const Fragment previous = grad_q_rows(m, ElementType::fp32);
  if (adds_to_earlier(step)) {
    m.load(previous, queries(kGradQSum, step.row));
  }
  m.guarded([&] {
    m.store_shared(query_tile(config_.grad_o_offset, step.buffer + 1), next.grad_o);
    if (step.first) {
      store_row_products(m, query_values(kRowProducts, step.next_row), next.grad_o, next.o);
    }
  });
  m.part(kBackGradK, copy_of_block(step.first));
  m.mma(resident.grad_k, transposed(score_tile(config_.grad_s_offset)), q);
  m.barrier();  // the parts of dQ are there, and the next queries
  write_grad_q(m, step, previous);
  // Of the places that the source allows, the one where warps wait for these loads as long as long_scoreboard
  // counts on an H200 (counters.csv); loaded a product earlier they would hardly be waited for.
  m.guarded([&] {
    m.load_rows(resident.lse, query_values(kBackLse, step.next_row));
    m.load_rows(resident.row_products, query_values(kRowProducts, step.next_row));
  });
}

Fragment BackwardProgram::probabilities(CtaMachine& m, const Resident& resident, const Step& step) const {
  const Fragment s = scores(m, ElementType::fp32);
  m.part(kBackScores, copy_of_block(step.first));
  m.fill(s, 0);
  m.mma(s, query_tile(0, step.buffer), transposed(key_tile(config_.k_offset)));
  m.mask(s, {step.row, step.first_key, problem_.seqlen_k, problem_.causal, 0});
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
  m.guarded([&] {
    m.load(next.grad_o, queries(kBackGradO, step.next_row));
    if (step.first) {
      m.load(next.o, queries(kBackO, step.next_row));
    }
  });
  return grad_p;
}

void BackwardProgram::write_grad_q(CtaMachine& m, const Step& step, const Fragment& previous) const {
  const Fragment sum = grad_q_rows(m, ElementType::fp32);
  m.load_reduced(sum, parts_of_grad_q(), kBackwardWarps, Reduce::sum);
  if (adds_to_earlier(step)) {
    m.apply(sum, BinaryOp::add, sum, previous);
  }
  if (!step.is_final) {
    m.guarded([&] { m.store(queries(kGradQSum, step.row), sum); });
    return;
  }
  m.apply(sum, BinaryOp::multiply, sum, scale_);
  if (config_.sequence_parallel) {
    m.guarded([&] { m.reduce_add(queries(kGradQSum, step.row), sum); });
    return;
  }
  const Fragment rounded = grad_q_rows(m, type_);
  m.convert(rounded, sum);
  m.guarded([&] { m.store(queries(kGradQ, step.row), rounded); });
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

void add_backward_grid(LaunchPlan& launch, const Problem& problem, const BackwardConfig& config,
                       const Schedule& schedule) {
  const Config& blocks = config.blocks;
  launch.grid = {static_cast<std::uint32_t>(problem.batch), static_cast<std::uint32_t>(problem.heads), 1};
  if (!config.sequence_parallel) {
    launch.classes = schedule.classes;
    return;
  }
  launch.grid[2] = static_cast<std::uint32_t>(blocks.key_blocks);
  if (!problem.causal) {
    launch.classes.push_back({0, {static_cast<std::uint32_t>(blocks.query_steps)}, {}});
    return;
  }
  for (int n = 0; n < blocks.key_blocks; ++n) {
    const int skipped = n * blocks.block_keys / blocks.step_rows;  // queries before the first key
    launch.classes.push_back({0, {static_cast<std::uint32_t>(blocks.query_steps - skipped)}, {}});
    launch.class_of_block[2].push_back(static_cast<std::uint32_t>(n));
  }
}

}  // namespace warpscope::kernels::fa1

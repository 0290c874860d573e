// The CTA program of FlashAttention-1's backward kernel: a block of keys, past which the queries go.
#pragma once

#include "kernels/fa1/backward_config.hpp"
#include "kernels/fa1/schedule.hpp"
#include "kernels/fa1/walk.hpp"
#include "kernels/machine/machine.hpp"
#include "kernels/variants/tile_copies.hpp"

namespace warpscope::kernels::fa1 {

/// Numbers of the tensors in the plan.
enum BackwardTensor : int {
  kBackQ,
  kBackK,
  kBackV,
  kBackO,
  kBackGradO,
  kBackLse,
  kRowProducts,  ///< sum over the row of dO * O, for each query
  kGradQ,
  kGradK,
  kGradV,
  kGradQSum,  ///< dQ in fp32; only where it is summed in memory
};

/// Marks of the program's parts. Branches around loads and stores part a step into basic blocks.
enum BackwardPart : int {
  kBackKeyBlock,   ///< loads of K, V and the first queries
  kBackScores,     ///< Q K^T and the probabilities
  kBackGradP,      ///< dO V^T
  kBackProducts,   ///< dS, each warp's part of dQ, and dV
  kBackGradK,      ///< dK, and the sum of the parts of dQ
  kBackGradients,  ///< dK and dV go to memory
  kBackAddress     ///< arithmetic in front of each load or store that stands behind a branch
};

/// Loads behind the coming queries' way to shared memory, or before it where BuildFigures::exchanged has
/// their order: warps then wait for them there.
enum BackwardLoad : int { kLoadLse, kLoadEarlierGradQ };

/// Blocks of keys that differ in their code: the first of a CTA that takes a whole head, or any other.
constexpr int copy_of_block(bool first) {
  return first ? 1 : 0;
}

/// Registers: dK and dV of a block of keys. Warps split the keys, so each has a part of dQ, and shared memory
/// adds up the parts; with the option split_q dS goes there instead, and each warp owns a piece of dQ.
class BackwardProgram {
 public:
  /// `schedule`: of config.blocks; not read where the config is sequence-parallel.
  BackwardProgram(const Problem& problem, const BackwardConfig& config, const Schedule& schedule);

  void operator()(CtaMachine& machine) const;

 private:
  /// What lasts as long as a key block.
  struct Resident {
    Fragment grad_k;
    Fragment grad_v;
    MmaOperand v = SharedTile{};  ///< in shared memory or in registers
    RowVector lse;
    RowVector row_products;
  };
  /// What is on its way for the next step.
  struct Fetched {
    variants::TileTransfer q;
    variants::TileTransfer grad_o;
    Fragment o;
  };

  void one_block(CtaMachine& m) const;
  Resident load_key_block(CtaMachine& m, const KeyBlockVisit& visit) const;
  void step(CtaMachine& m, const Resident& resident, const Step& step) const;
  /// Behind a branch around rows beyond the end, which differ from step to step.
  static void guarded(CtaMachine& m, const Step& step, const std::function<void()>& access);
  /// Each warp's part of dQ, or its piece, on the way to being complete.
  Fragment product_for_grad_q(CtaMachine& m, const Fragment& grad_s) const;
  /// Probabilities of the step, in registers and in shared memory.
  Fragment probabilities(CtaMachine& m, const Resident& resident, const Step& step) const;
  /// dP, and loads of what the next step needs.
  Fragment grad_probabilities(CtaMachine& m, const Resident& resident, const Step& step,
                              const Fetched& next) const;
  void write_grad_q(CtaMachine& m, const Step& step, const Fragment& product, const Fragment& previous) const;
  void write_grad_keys(CtaMachine& m, const Resident& resident, const Affine& first_key) const;

  Fragment scores(CtaMachine& m, ElementType type) const;
  Fragment rows_of_queries(CtaMachine& m) const;
  /// Pieces of dQ where it is complete.
  Fragment grad_q_pieces(CtaMachine& m, ElementType type) const;
  GlobalTile queries(BackwardTensor tensor, const Affine& row) const;
  GlobalTile query_values(BackwardTensor tensor, const Affine& row) const;
  GlobalTile keys(BackwardTensor tensor, const Affine& row) const;
  SharedTile query_tile(int offset, const Affine& buffer) const;
  SharedTile key_tile(int offset) const;
  SharedTile score_tile(int offset) const;
  SharedTile parts_of_grad_q() const;
  bool adds_to_earlier(const Step& step) const { return !config_.sequence_parallel && !step.first; }
  /// Where row products are made of dO, it passes through registers in any case.
  Fetched fetched_queries(CtaMachine& m, const Affine& buffer, bool first) const;
  /// Copies that run ahead have arrived, those of this thread.
  void arrive(CtaMachine& m) const;

  BackwardConfig config_;
  Schedule schedule_;
  Problem problem_;
  Affine segment_;
  ElementType type_;
  float scale_;
};

/// Each row's sum of the products of two tiles of layout linear goes to `target`.
void store_row_products(CtaMachine& machine, const GlobalTile& target, const Fragment& grad_o,
                        const Fragment& o);

}  // namespace warpscope::kernels::fa1

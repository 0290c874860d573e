// The loops of a CTA: key blocks outside, query steps inside.
#pragma once

#include <functional>

#include "kernels/fa1/config.hpp"
#include "kernels/fa1/schedule.hpp"
#include "kernels/machine/machine.hpp"

namespace warpscope::kernels::fa1 {

/// A key block, in front of its query steps.
struct KeyBlockVisit {
  Affine first_key;
  Affine first_row;    ///< of the first step's queries
  bool first = false;  ///< nothing to merge with yet
};

/// One query step's position.
struct Step {
  Affine row;       ///< first query row
  Affine next_row;  ///< of the step whose queries are fetched meanwhile
  Affine buffer;    ///< of the two query buffers, the one that this step reads
  Affine first_key;
  bool first = false;     ///< first key block
  bool is_final = false;  ///< O is complete after this step
  bool at_edge = false;   ///< the causal mask or the end of the keys may cut the step
};

/// Key blocks whose steps differ in their code.
enum BlockKind : int { kFirstBlock, kMiddleBlock, kLastBlock };
constexpr BlockKind kind_of_block(bool first, bool is_final) {
  return first ? kFirstBlock : is_final ? kLastBlock : kMiddleBlock;
}

/// Where load `load` of a program stands in steps of such a block, see CtaMachine::in_either_order.
constexpr int order_of(int load, BlockKind block) {
  return 3 * load + block;
}

/// Whether the scores of this step pass the mask.
bool is_masked(const Config& config, const Problem& problem, const Step& step);

struct Visitor {
  std::function<void(const KeyBlockVisit&)> key_block;
  std::function<void(const Step&)> step;
  std::function<void()> end_of_key_block{};  ///< behind its query steps; may be empty
};

/// CTA z of a head has query steps z, z + num_splits, ...
void walk_interleaved(CtaMachine& machine, const Config& config, const Schedule& schedule, bool causal,
                      const Visitor& visitor);

/// CTA z of a head has steps z * chunk_steps and those behind it. `causal`: as for schedule().
void walk_chunk(CtaMachine& machine, const Config& config, bool causal, const Visitor& visitor);

/// The classes of CTAs that walk_chunk needs, and the class of each CTA of a head.
struct ChunkClasses {
  std::vector<PlanClass> classes;
  std::vector<std::uint32_t> class_of_block;
};
ChunkClasses chunk_classes(const Config& config, bool causal);

}  // namespace warpscope::kernels::fa1

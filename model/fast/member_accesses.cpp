#include "model/fast/member_accesses.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "model/memory/access_kind.hpp"
#include "model/memory/block_cache.hpp"

namespace warpscope::fast {
namespace {

/// The part of an index that varies from CTA to CTA.
auto by_cta(const trace::AffineIndex& index) {
  return std::tie(index.per_block, index.block_divisor, index.symbol, index.per_symbol, index.symbol_table);
}

}  // namespace

MemberAccesses::MemberAccesses(const trace::Trace& trace, const std::vector<trace::MemoryOperand>& operands,
                               int cta_slots, const gpu::SmGroup& group, const hw::L2& l2)
    : trace_(trace),
      operands_(operands),
      group_(group),
      l2_(l2),
      slots_(static_cast<std::size_t>(cta_slots)) {
  std::vector<const trace::MemoryOperand*> kinds;
  for (const trace::MemoryOperand& operand : operands) {
    const auto same = std::ranges::find_if(kinds, [&](const trace::MemoryOperand* kind) {
      return is_local(*kind) == is_local(operand) && by_cta(kind->segment) == by_cta(operand.segment) &&
             by_cta(kind->offset) == by_cta(operand.offset);
    });
    kind_of_operand_.push_back(static_cast<std::uint32_t>(same - kinds.begin()));
    if (same == kinds.end()) {
      kinds.push_back(&operand);
    }
  }
  for (Slot& slot : slots_) {
    slot.runs.resize(kinds.size());
    for (std::deque<MemberRuns>& runs : slot.runs) {
      runs.push_back(unknown_runs());
    }
    slot.spilled_again = unknown_runs();
  }
}

void MemberAccesses::install(int slot, SlotMembers members) {
  Slot& target = slots_[static_cast<std::size_t>(slot)];
  target.members = std::move(members);
  for (std::deque<MemberRuns>& kind : target.runs) {
    for (MemberRuns& runs : kind) {
      runs.members = 0;
      runs.others.clear();
    }
  }
  target.spilled.clear();
  MemberRuns& again = target.spilled_again;
  again.members = static_cast<std::uint32_t>(target.members.ctas.size());
  again.own = {{}, again.members, 0};
  for (std::uint32_t i = 0; i < again.members; ++i) {
    again.own.partitions |= memory::partition_of_sm(group_.first_sm + static_cast<int>(i), l2_);
  }
}

void MemberAccesses::forget_spills() {
  for (Slot& slot : slots_) {
    slot.spilled.clear();
  }
}

bool MemberAccesses::is_local(const trace::MemoryOperand& operand) const {
  return operand.tensor != trace::kSharedMemory &&
         trace_.tensors[operand.tensor].kind == trace::TensorKind::local;
}

MemberRuns MemberAccesses::unknown_runs() {
  MemberRuns runs;
  runs.number = numbers_++;
  return runs;
}

const MemberRuns& MemberAccesses::runs(int slot, std::uint32_t operand, std::int64_t offset,
                                       std::uint32_t turn) {
  Slot& source = slots_[static_cast<std::size_t>(slot)];
  if (is_local(operands_[operand]) && !source.spilled.insert(offset).second) {
    return source.spilled_again;
  }
  std::deque<MemberRuns>& of_turns = source.runs[kind_of_operand_[operand]];
  const bool by_turn = operands_[operand].segment.symbol_table || operands_[operand].offset.symbol_table;
  const std::uint32_t known_as = by_turn ? turn : 0;
  while (of_turns.size() <= known_as) {
    of_turns.push_back(unknown_runs());
  }
  MemberRuns& runs = of_turns[known_as];
  if (runs.members == 0) {
    find_runs(source, operands_[operand], turn, runs);
  }
  return runs;
}

void MemberAccesses::find_runs(const Slot& slot, const trace::MemoryOperand& operand, std::uint32_t turn,
                               MemberRuns& runs) const {
  const SlotMembers& members = slot.members;
  const bool local = is_local(operand);
  const sm::Address own =
      sm::base_address(operand, members.ctas[static_cast<std::size_t>(members.representative)], turn);
  std::vector<MemberRun> single;
  for (int i = 0; i < static_cast<int>(members.ctas.size()); ++i) {
    const sm::Address other = sm::base_address(operand, members.ctas[static_cast<std::size_t>(i)], turn);
    // Spilled registers have a segment for each slot of each SM; the simulated SM is the first of them.
    const int place = i == members.representative ? 0 : i == 0 ? members.representative : i;
    const std::int64_t segments =
        local ? std::int64_t{place} * static_cast<std::int64_t>(slots_.size()) : other.segment - own.segment;
    single.push_back(
        {{segments, other.offset - own.offset}, 1, memory::partition_of_sm(group_.first_sm + i, l2_)});
  }
  std::ranges::sort(
      single, {}, [](const MemberRun& run) { return std::pair(run.distance.segment, run.distance.offset); });
  runs.members = static_cast<std::uint32_t>(single.size());
  runs.whole_sectors = true;
  for (const MemberRun& run : single) {
    runs.whole_sectors = runs.whole_sectors && run.distance.offset % memory::kSectorBytes == 0;
    if (runs.others.empty() || !(runs.others.back().distance == run.distance)) {
      runs.others.push_back(run);
    } else {
      ++runs.others.back().members;
      runs.others.back().partitions |= run.partitions;
    }
  }
  const auto same =
      std::ranges::find_if(runs.others, [](const MemberRun& run) { return run.distance == sm::Address{}; });
  runs.own = *same;
  runs.others.erase(same);
}

}  // namespace warpscope::fast

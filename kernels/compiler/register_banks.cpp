#include "kernels/compiler/register_banks.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <vector>

#include "kernels/compiler/liveness.hpp"
#include "kernels/compiler/register_ranges.hpp"

namespace warpscope::kernels {
namespace {

using trace::Instruction;
using trace::RegisterRange;

constexpr std::uint16_t kBanks = 2;

bool is_register(const RegisterRange& range) {
  return range.count > 0 && range.first < trace::kFirstPredicate;
}

/// Whether operands of one bank make it read for longer.
bool reads_at_once(const Instruction& instruction) {
  const trace::Pipe pipe = trace::info(instruction.opcode).pipe;
  return pipe == trace::Pipe::fma || pipe == trace::Pipe::alu;
}

/// Numbers that the program leaves free, by bank. The one that has been free longest goes first, so that
/// nobody waits for its last reader.
class FreeRegisters {
 public:
  explicit FreeRegisters(const VirtualProgram& program) {
    RegisterSet used;
    const auto mark = [&used](const RegisterRange& range) {
      for (std::size_t k = 0; k < range.count && range.first < trace::kFirstPredicate; ++k) {
        used.set(range.first + k);
      }
    };
    for (const BasicBlock& block : program.blocks) {
      for (const Instruction& instruction : block.code) {
        mark(instruction.destination);
        std::ranges::for_each(instruction.sources, mark);
      }
    }
    for (std::uint16_t number = kFirstValueRegister; number < trace::kFirstPredicate; ++number) {
      if (!used.test(number)) {
        give_back(number);
      }
    }
  }

  bool has(int bank) const { return !free_[static_cast<std::size_t>(bank)].empty(); }
  std::uint16_t take(int bank) {
    auto& free = free_[static_cast<std::size_t>(bank)];
    const std::uint16_t number = free.front();
    free.pop_front();
    return number;
  }
  void give_back(std::uint16_t number) { free_[number % kBanks].push_back(number); }

 private:
  std::array<std::deque<std::uint16_t>, kBanks> free_;
};

struct Value {
  std::uint16_t number = 0;
  bool stays = false;   ///< its number is given from outside the block, or by its neighbours
  bool placed = false;  ///< its bank is decided
  std::vector<std::size_t> readers = {};  ///< instructions, in order
};

class BlockBanks {
 public:
  BlockBanks(BasicBlock& block, const RegisterSet& live_out, FreeRegisters& free)
      : code_(block.code),
        free_(free),
        sources_(code_.size(), {kNone, kNone, kNone, kNone}),
        destination_(code_.size(), kNone) {
    for (std::size_t i = 0; i < code_.size(); ++i) {
      note(i);
    }
    for (std::size_t number = 0; number < current_.size(); ++number) {
      if (current_[number] != kNone && live_out.test(number)) {
        values_[current_[number]].stays = true;
      }
    }
    for (Value& value : values_) {
      value.placed = value.stays;
    }
  }

  void rename() {
    std::vector<std::vector<std::uint16_t>> ended(code_.size());  // numbers that have their last reader there
    for (std::size_t i = 0; i < code_.size(); ++i) {
      for (std::size_t k = 0; k < sources_[i].size(); ++k) {
        if (sources_[i][k] != kNone) {
          code_[i].sources[k].first = values_[sources_[i][k]].number;
        }
      }
      std::ranges::for_each(ended[i], [this](std::uint16_t number) { free_.give_back(number); });
      if (destination_[i] == kNone) {
        continue;
      }
      Value& value = values_[destination_[i]];
      const int bank = value.stays ? value.number % kBanks : best_bank(destination_[i]);
      if (bank != value.number % kBanks && free_.has(bank)) {
        value.number = free_.take(bank);
        ended[value.readers.back()].push_back(value.number);
      }
      value.placed = true;
      code_[i].destination.first = value.number;
    }
  }

 private:
  static constexpr std::size_t kNone = ~std::size_t{0};

  std::size_t value_in(std::size_t number) {
    if (current_[number] == kNone) {
      current_[number] = values_.size();
      values_.push_back({.number = static_cast<std::uint16_t>(number), .stays = true});
    }
    return current_[number];
  }

  void note(std::size_t i) {
    const Instruction& instruction = code_[i];
    for (std::size_t k = 0; k < instruction.sources.size(); ++k) {
      const RegisterRange& source = instruction.sources[k];
      for (std::size_t r = 0; is_register(source) && r < source.count; ++r) {
        const std::size_t value = value_in(source.first + r);
        values_[value].readers.push_back(i);
        values_[value].stays |= source.count > 1;
        sources_[i][k] = source.count == 1 ? value : kNone;
      }
    }
    const RegisterRange& destination = instruction.destination;
    // A guarded instruction may leave what stood there before.
    const bool stays = destination.count > 1 || reads_predicate(instruction);
    for (std::size_t r = 0; is_register(destination) && r < destination.count; ++r) {
      const std::size_t number = destination.first + r;
      if (stays && current_[number] != kNone) {
        values_[current_[number]].stays = true;
      }
      current_[number] = values_.size();
      values_.push_back(
          {.number = static_cast<std::uint16_t>(number), .stays = stays || number < kFirstValueRegister});
      destination_[i] = destination.count == 1 ? current_[number] : kNone;
    }
  }

  /// The bank with fewer of the operands beside which `value` is read; its own where both have as many.
  int best_bank(std::size_t value) const {
    std::array<int, kBanks> beside{};
    for (const std::size_t reader : values_[value].readers) {
      if (!reads_at_once(code_[reader])) {
        continue;
      }
      for (const std::size_t other : sources_[reader]) {
        if (other != kNone && other != value && values_[other].placed) {
          ++beside[values_[other].number % kBanks];
        }
      }
    }
    const std::size_t own = values_[value].number % kBanks;
    const bool better = !values_[value].readers.empty() && beside[1 - own] < beside[own];
    return static_cast<int>(better ? 1 - own : own);
  }

  std::vector<Instruction>& code_;
  FreeRegisters& free_;
  std::vector<std::size_t> current_ = std::vector<std::size_t>(trace::kFirstPredicate, kNone);
  std::vector<Value> values_;
  std::vector<std::array<std::size_t, 4>> sources_;  // values that instructions read alone
  std::vector<std::size_t> destination_;
};

}  // namespace

void spread_over_banks(VirtualProgram& program) {
  FreeRegisters free(program);
  const std::vector<BlockLiveness> liveness = block_liveness(program);
  for (std::size_t i = 0; i < program.blocks.size(); ++i) {
    BlockBanks(program.blocks[i], liveness[i].live_out, free).rename();
  }
}

}  // namespace warpscope::kernels

#include "tests/support/moved_bytes.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <vector>

namespace warpscope::tests {
namespace {

using trace::AffineIndex;
using trace::Instruction;
using trace::Loop;
using trace::OpClass;

/// Runs one warp of one CTA and notes what its memory instructions touch.
class WarpWalk {
 public:
  WarpWalk(const trace::Trace& trace, const trace::Launch& launch, std::vector<MovedBytes>& moved,
           std::vector<std::vector<bool>>& touched)
      : trace_(trace), launch_(launch), moved_(moved), touched_(touched) {}

  void run(const std::array<std::uint32_t, 3>& block, std::uint32_t warp) {
    block_ = block;
    warp_ = warp;
    class_ = &launch_.classes[trace::class_of(launch_, block[0], block[1], block[2])];
    program_ = &launch_.programs[class_->program_of_warp[warp]];
    iterations_.clear();
    walk(0, static_cast<std::uint32_t>(program_->code.size()), 0);
  }

 private:
  void walk(std::uint32_t begin, std::uint32_t end, std::size_t loop) {
    std::uint32_t at = begin;
    while (at < end) {
      while (loop < program_->loops.size() && program_->loops[loop].begin < at) {
        ++loop;
      }
      if (loop == program_->loops.size() || program_->loops[loop].begin > at) {
        access(program_->code[at++]);
        continue;
      }
      const Loop& range = program_->loops[loop];
      const std::int64_t trips = trips_of(range);
      for (std::int64_t i = 0; i < trips; ++i) {
        iterations_.push_back(i);
        walk(range.begin, range.end, loop + 1);
        iterations_.pop_back();
      }
      at = range.end;
    }
  }

  std::int64_t trips_of(const Loop& loop) const {
    std::int64_t trips = class_->trip_counts[loop.trip_slot];
    for (std::size_t k = 0; k < iterations_.size(); ++k) {
      trips += loop.trips_per_iteration[k] * iterations_[k];
    }
    return trips;
  }

  std::int64_t value_of(const AffineIndex& index) const {
    std::int64_t value = index.offset + index.per_warp * warp_;
    for (std::size_t d = 0; d < 3; ++d) {
      value += index.per_block[d] * (block_[d] / index.block_divisor[d]);
    }
    for (std::size_t k = 0; k < iterations_.size(); ++k) {
      value += index.per_iteration[k] * iterations_[k];
    }
    if (index.symbol != trace::kNoSymbol) {
      const std::int64_t turn = index.symbol_table && !iterations_.empty() ? iterations_[0] : 0;
      value += index.per_symbol * class_->symbols[static_cast<std::size_t>(index.symbol + turn)];
    }
    return value;
  }

  void access(const Instruction& instruction) {
    const OpClass op_class = trace::info(instruction.opcode).op_class;
    if (instruction.memory == trace::kNoMemory || !trace::is_global_memory(op_class)) {
      return;
    }
    const trace::MemoryOperand& operand = program_->memory_operands[instruction.memory];
    const trace::Tensor& tensor = trace_.tensors[operand.tensor];
    const std::int64_t segment = value_of(operand.segment);
    const std::int64_t first = value_of(operand.offset);
    if (segment < 0 || segment >= tensor.segments || first < 0) {
      throw std::out_of_range("access outside tensor " + tensor.name);
    }
    const std::int64_t end = std::min<std::int64_t>(first + operand.bytes, tensor.segment_bytes);
    const auto bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(0, end - first));
    MovedBytes& sums = moved_[operand.tensor];
    const bool stores = op_class == OpClass::global_store || op_class == OpClass::global_reduce ||
                        op_class == OpClass::bulk_store;
    (stores ? sums.written : sums.read) += bytes;
    std::vector<bool>& map = touched_[operand.tensor];
    map.resize(static_cast<std::size_t>(tensor.segments * tensor.segment_bytes));
    for (std::int64_t byte = first; byte < end; ++byte) {
      map[static_cast<std::size_t>(segment * tensor.segment_bytes + byte)] = true;
    }
  }

  const trace::Trace& trace_;
  const trace::Launch& launch_;
  std::vector<MovedBytes>& moved_;
  std::vector<std::vector<bool>>& touched_;
  const trace::CtaClass* class_ = nullptr;
  const trace::WarpProgram* program_ = nullptr;
  std::array<std::uint32_t, 3> block_{};
  std::int64_t warp_ = 0;
  std::vector<std::int64_t> iterations_;
};

}  // namespace

std::map<std::string, MovedBytes> moved_bytes(const trace::Trace& trace, const trace::Launch& launch) {
  std::vector<MovedBytes> moved(trace.tensors.size());
  std::vector<std::vector<bool>> touched(trace.tensors.size());
  WarpWalk walk(trace, launch, moved, touched);
  for (std::uint32_t z = 0; z < launch.grid[2]; ++z) {
    for (std::uint32_t y = 0; y < launch.grid[1]; ++y) {
      for (std::uint32_t x = 0; x < launch.grid[0]; ++x) {
        for (std::uint32_t warp = 0; warp < trace::warps_per_cta(launch); ++warp) {
          walk.run({x, y, z}, warp);
        }
      }
    }
  }
  std::map<std::string, MovedBytes> result;
  for (std::size_t t = 0; t < moved.size(); ++t) {
    moved[t].touched = static_cast<std::uint64_t>(std::ranges::count(touched[t], true));
    result[trace.tensors[t].name] = moved[t];
  }
  return result;
}

}  // namespace warpscope::tests

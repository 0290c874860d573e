// Registers and control flow of the trace machine.
#include "kernels/compiler/trace_machine.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "kernels/compiler/memory_shapes.hpp"

namespace warpscope::kernels {

using trace::Opcode;

TraceMachine::TraceMachine(const KernelPlan& plan, const LaunchPlan& launch, const CompilerTarget& target,
                           ClassTables& tables, std::size_t role)
    : plan_(plan),
      launch_(launch),
      target_(target),
      tables_(tables),
      role_(role),
      warps_(launch.warps),
      resolver_(tables),
      emitter_(target, static_cast<std::uint16_t>(plan.tensors.size()), launch.build, launch.warps) {}

TraceMachine::Operation::Operation(TraceMachine& machine, std::string name) : machine_(machine) {
  if (machine_.open_operations_++ == 0) {
    machine_.emitter_.begin_operation(std::move(name));
  }
}

TraceMachine::Operation::~Operation() {
  if (--machine_.open_operations_ == 0) {
    machine_.emitter_.begin_operation({});
  }
}

std::string TraceMachine::named(const char* what, const GlobalTile& tile) const {
  return what + (' ' + plan_.tensors[static_cast<std::size_t>(tile.tensor)].name);
}

int TraceMachine::threads_per_row(Layout layout, int cols, ElementType type) const {
  switch (layout) {
    case Layout::linear:
      return std::max(1, cols * element_bytes(type) / 16);
    case Layout::linear_quads:
      return std::max(1, cols / 4);
    case Layout::row_per_warp:
      return row_lanes(cols);
    case Layout::row_per_cta:
    case Layout::element_per_thread:
      return 32 * warps_;
    default:
      return 4;
  }
}

Fragment TraceMachine::fragment(int rows, int cols, ElementType type, Layout layout, WarpSplit split) {
  const int warps = warps_;
  const int words = rows * cols * element_bytes(type) / 4;
  Registers registers;
  switch (layout) {
    case Layout::accumulator:
      registers.count = words / (32 * split.m * split.n);
      registers.m_atoms = rows / (16 * split.m);
      registers.row_slots = 2 * registers.m_atoms;
      break;
    case Layout::operand_b:
      registers.count = words / (32 * split.m * split.n * split.k);
      break;
    case Layout::linear:
    case Layout::linear_quads:
      registers.count = divide_up(words, 32 * warps);
      registers.row_slots =
          std::max(1, rows * std::min(32 * warps, threads_per_row(layout, cols, type)) / (32 * warps));
      break;
    case Layout::row_per_warp:
      registers.row_slots = divide_up(rows, warps * (32 / row_lanes(cols)));
      registers.count = registers.row_slots * divide_up(cols, 32);
      break;
    case Layout::row_per_cta:
      registers.row_slots = rows;
      registers.count = rows * divide_up(cols * element_bytes(type), 128 * warps);
      break;
    case Layout::element_per_thread:
      registers.count = divide_up(rows * cols, 32 * warps);
      registers.row_slots = cols % (32 * warps) == 0 ? rows : 1;
      break;
  }
  registers.count = std::max(registers.count, 1);
  registers.first = emitter_.allocation_mark();
  // A range of registers counts at most 255 of them; only the numbers matter here.
  for (int left = registers.count; left > 0; left -= 128) {
    emitter_.allocate(std::min(left, 128));
  }
  registers_.push_back(registers);
  return {static_cast<int>(registers_.size()) - 1, rows, cols, type, layout, split};
}

RowVector TraceMachine::row_vector(const Fragment& like) {
  Registers registers;
  registers.count = at(like.id).row_slots;
  registers.row_slots = registers.count;
  registers.first = emitter_.allocate(registers.count).first;
  registers_.push_back(registers);
  registers_.back().lanes = std::min(32, threads_per_row(like.layout, like.cols, like.type));
  return {static_cast<int>(registers_.size()) - 1, like.rows, like.layout, like.split};
}

TraceMachine::Range TraceMachine::reg(const Fragment& fragment, int index, int count) const {
  return {static_cast<std::uint16_t>(at(fragment.id).first + index), static_cast<std::uint8_t>(count)};
}

TraceMachine::Range TraceMachine::reg(const RowVector& rows, int index) const {
  // A vector made for another layout of the same rows has its own number of values per thread.
  return {static_cast<std::uint16_t>(at(rows.id).first + index % at(rows.id).count), 1};
}

int TraceMachine::row_slot(const Fragment& fragment, int register_index) const {
  const Registers& registers = at(fragment.id);
  if (fragment.layout != Layout::accumulator) {
    return register_index * registers.row_slots / registers.count;
  }
  // Registers of an atom: fp32 (g, c) (g, c+1) (g+8, c) (g+8, c+1); packed (g, lo) (g+8, lo) (g, hi) (g+8,
  // hi).
  const int in_atom = register_index % 4;
  const int half = fragment.type == ElementType::fp32 ? in_atom / 2 : in_atom % 2;
  return 2 * (register_index / 4 % registers.m_atoms) + half;
}

void TraceMachine::fill(const Fragment& target, float value) {
  const Operation operation(*this, "fill");
  if (value == 0 && target.layout == Layout::accumulator) {
    zero_accumulators_.insert(target.id);
    return;
  }
  for (int i = 0; i < count(target); ++i) {
    emitter_.emit(Opcode::IMAD_MOV, reg(target, i), {CodeEmitter::shared_base()});
  }
}

void TraceMachine::fill(const RowVector& target, float) {
  const Operation operation(*this, "fill");
  for (int i = 0; i < count(target); ++i) {
    emitter_.emit(Opcode::IMAD_MOV, reg(target, i), {CodeEmitter::shared_base()});
  }
}

void TraceMachine::fill(const Fragment& target, const RowVector& rows) {
  const Operation operation(*this, "fill");
  zero_accumulators_.erase(target.id);
  for (int i = 0; i < count(target); ++i) {
    emitter_.emit(Opcode::IMAD_MOV, reg(target, i), {reg(rows, row_slot(target, i))});
  }
}

void TraceMachine::materialise_zeros() {
  const Operation operation(*this, "fill");
  for (const int id : zero_accumulators_) {
    for (int i = 0; i < at(id).count; i += 2) {
      emitter_.emit(Opcode::CS2R, {static_cast<std::uint16_t>(at(id).first + i), 2}, {});
    }
  }
  zero_accumulators_.clear();
}

void TraceMachine::open_region(const VirtualLoop& region) {
  materialise_zeros();
  if (!emitter_.block_is_empty()) {
    emitter_.end_block(false);
  }
  VirtualLoop opened = region;
  opened.first_block = emitter_.next_block();
  emitter_.add_loop(opened);
}

void TraceMachine::close_region() {
  zero_accumulators_.clear();
  emitter_.end_block(true);
  resolver_.leave();
}

void TraceMachine::loop(const Trips& trips, const std::function<void(const Affine&)>& body, Code code) {
  const bool outer_saw = saw_unless_last_;
  const bool outer_tail = tail_;
  const int mark = emitter_.allocation_mark();
  Affine iteration;
  iteration.per_loop[static_cast<std::size_t>(resolver_.loop_depth())] = 1;

  saw_unless_last_ = false;
  tail_ = false;
  VirtualLoop region;
  region.trips_per_iteration = resolver_.trips_per_iteration(trips);
  region.again = code == Code::of_loop_before;
  open_region(region);
  const std::size_t number = emitter_.loop_count() - 1;
  resolver_.enter_loop(trips);
  body(iteration);
  close_region();
  emitter_.loop(number).last_block = emitter_.next_block() - 1;
  emitter_.release_to(mark);
  emitter_.loop(number).trip_slot =
      tables_.trip_slot(saw_unless_last_ ? TripKind::all_but_last : TripKind::all, trips.slot);

  if (saw_unless_last_) {
    tail_ = true;
    VirtualLoop last;
    last.trip_slot = tables_.trip_slot(TripKind::at_most_one, trips.slot);
    last.at_most_once = true;
    last.again = true;
    open_region(last);
    const std::size_t last_number = emitter_.loop_count() - 1;
    resolver_.enter_last_iteration(trips);
    body(iteration);
    close_region();
    emitter_.loop(last_number).last_block = emitter_.next_block() - 1;
    emitter_.release_to(mark);
  }
  saw_unless_last_ = outer_saw;
  tail_ = outer_tail;
}

void TraceMachine::unless_last(const std::function<void()>& body) {
  // A compare and a branch to code that compilers place out of line, and the branch back from there.
  saw_unless_last_ = true;
  materialise_zeros();
  emitter_.emit(Opcode::ISETP, emitter_.temporary_predicate(), {CodeEmitter::shared_base()});
  emitter_.end_block(true);
  if (!tail_) {
    body();
    emitter_.end_block(true);
  }
}

void TraceMachine::when(int slot, const std::function<void()>& body, Code code) {
  const int mark = emitter_.allocation_mark();
  VirtualLoop region;
  region.trip_slot = tables_.trip_slot(TripKind::at_most_one, slot);
  region.at_most_once = true;
  region.again = code == Code::of_loop_before;
  open_region(region);
  const std::size_t number = emitter_.loop_count() - 1;
  resolver_.enter_condition();
  body();
  close_region();
  emitter_.loop(number).last_block = emitter_.next_block() - 1;
  emitter_.release_to(mark);
}

void TraceMachine::end_block(BlockEnd end) {
  materialise_zeros();
  emitter_.end_block(end == BlockEnd::branch);
}

void TraceMachine::guarded(const std::function<void()>& body, Condition condition) {
  materialise_zeros();
  if (condition == Condition::of_iteration) {
    emitter_.end_block(false);  // the compare stays where threads part, right in front of the branch
    emitter_.end_block_on(CodeEmitter::shared_base());
  } else {
    emitter_.end_block(true);
  }
  body();
  end_block(BlockEnd::join);
}

void TraceMachine::part(int number, int copy) {
  const auto found = launch_.build.parts.find({number, copy});
  if (found == launch_.build.parts.end()) {
    return;
  }
  for (const CountedBlock& block : found->second) {
    emitter_.chain(block.chain);
    emitter_.spread(block.spread);
    if (block.end != BlockEnd::none) {
      materialise_zeros();
      emitter_.end_counted_block(block.end == BlockEnd::branch, block.jumps_over);
    }
  }
}

void TraceMachine::in_either_order(int number, const std::function<void()>& first,
                                   const std::function<void()>& second) {
  const bool exchanged = launch_.build.exchanged.contains(number);
  (exchanged ? second : first)();
  (exchanged ? first : second)();
}

}  // namespace warpscope::kernels

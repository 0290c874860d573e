#include "model/sm/sm.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "model/memory/block_cache.hpp"
#include "model/memory/l2.hpp"
#include "model/sm/loop_footprint.hpp"

namespace warpscope::sm {
namespace {

/// Bounds of a slice in cycles. Short enough that requests of different SMs reach the L2 nearly in order of
/// time, long enough that the bookkeeping per slice is small. Slices end at checkpoints, so that equal states
/// meet.
constexpr std::int32_t kMinSliceCycles = 512;
constexpr std::int32_t kMaxSliceCycles = 4096;

/// Reads move whole sectors.
std::uint64_t sector_bytes(const MemoryRequest& place) {
  constexpr std::int64_t kSector = memory::kSectorBytes;
  const std::int64_t first = place.offset / kSector;
  const std::int64_t last = (place.offset + place.bytes + kSector - 1) / kSector;
  return place.bytes == 0 ? 0 : static_cast<std::uint64_t>((last - first) * kSector);
}

}  // namespace

Sm::Sm(const sc_core::sc_module_name& name) : sc_module(name), memory_side("memory_side") {
  payload_.set_extension(&transaction_);
  port_ = [this](const MemoryRequest& request, std::int32_t time) { return send(request, time); };
}

Sm::~Sm() {
  payload_.clear_extension(&transaction_);
}

void Sm::begin_launch(const hw::HwConfig& config, const trace::Trace& trace, const trace::Launch& launch,
                      const DecodedLaunch& decoded, int cta_slots, SliceMemo* memo) {
  trace_ = &trace;
  decoded_ = &decoded;
  core_ = std::make_unique<SmCore>(config, trace, launch, decoded, cta_slots);
  core_->set_sm_index(group_.first_sm);
  accesses_ = std::make_unique<MemberAccesses>(trace, decoded.memory_operands, cta_slots, group_,
                                               config.l2.partitions);
  replayer_.reset();
  skipper_.reset();
  paths_.reset();
  to_leave_out_ = 0;
  if (memo != nullptr) {
    replayer_.emplace(*core_, *memo);
    // A chip that is simulated SM by SM is simulated to the end.
    if (group_.sms > 1) {
      skipper_.emplace(decoded);
      paths_.emplace(decoded);
    }
  }
  executed_ = 0;
  counters_ = {};
  demand_.assign(trace.tensors.size(), {});
}

SmCounters Sm::counters() const {
  SmCounters sum = counters_;
  sum.add(core_->counters());
  return sum;
}

void Sm::install(int slot, SlotMembers members, sim::Cycles start, sim::Cycles now) {
  if (replayer_) {
    replayer_->catch_up();
    replayer_->forget_slices();
    if (skipper_) {
      skipper_->reset();
      paths_->reset();
      to_leave_out_ = 0;
    }
  }
  core_->install(slot, members.ctas[static_cast<std::size_t>(members.representative)],
                 static_cast<std::int32_t>(std::max(start, now) - now));
  accesses_->install(slot, std::move(members));
}

int Sm::active_sms() const {
  int most = 0;
  for (int slot = 0; slot < core_->cta_slots(); ++slot) {
    most = std::max(most, core_->cta(slot).occupied ? members(slot) : 0);
  }
  return most;
}

bool Sm::in_loops() const {
  for (int slot = 0; slot < core_->cta_slots(); ++slot) {
    const int warp = slot * static_cast<int>(decoded_->warps_per_cta);
    if (core_->cta(slot).occupied && core_->loop_counters_of(warp).trips[0] == 0) {
      return false;
    }
  }
  return true;
}

Slice Sm::run_slice(sim::Cycles now) {
  slice_start_ = now;
  const bool watched = observer_ != nullptr && observer_->watches(group_.first_sm, now);
  Slice slice = watched ? run_watched_slice(now) : run_next_slice(now);
  send_gathered(0, false);
  return slice;
}

Slice Sm::run_watched_slice(sim::Cycles now) {
  events_.clear();
  core_->watch(&events_);
  Slice slice = run_next_slice(now);
  core_->watch(nullptr);
  observer_->slice(group_.first_sm, now, now + slice.end, events_);
  return slice;
}

Slice Sm::run_next_slice(sim::Cycles now) {
  core_->set_phase(now);
  window_ended_ = false;
  if (replayer_) {
    if (const std::optional<Slice> repeated = replayer_->repeat_cycle(active_sms())) {
      if (skipper_) {
        skipper_->start_anew();
      }
      return *repeated;
    }
    if (const std::optional<Slice> skipped = skip_paths(now)) {
      return *skipped;
    }
    if (const std::optional<Slice> skipped = skipper_ && !paths_->follows() ? skip_loops() : std::nullopt) {
      return *skipped;
    }
    Slice slice = replayer_->run(kMinSliceCycles, kMaxSliceCycles, port_, active_sms());
    if (!skipper_) {
      return slice;
    }
    if (!slice.completions.empty()) {
      skipper_->reset();
      paths_->reset();
      to_leave_out_ = 0;
      return slice;
    }
    if (skipper_->wants_sample(*core_, now + slice.end)) {
      skipper_->sample(replayer_->core_now(), now + slice.end, replayer_->slices());
    }
    window_ended_ =
        paths_->may_end_window(*core_) && paths_->end_window(replayer_->core_now(), now + slice.end);
    return slice;
  }
  const auto sms = static_cast<std::uint64_t>(active_sms());
  Slice slice = core_->run_slice(kMinSliceCycles, kMaxSliceCycles, port_, nullptr);
  executed_ += slice.issued;
  counters_.add(std::exchange(core_->counters(), SmCounters{}), sms);
  return slice;
}

std::optional<Slice> Sm::skip_loops() {
  const std::optional<LoopSkip> skip = skipper_->skip(*core_);
  if (!skip) {
    return std::nullopt;
  }
  if (!replayer_->repeat(skip->first_slice, skip->last_slice, skip->windows, active_sms())) {
    skipper_->reset();
    return std::nullopt;
  }
  const auto warps_per_cta = static_cast<std::size_t>(decoded_->warps_per_cta);
  for (int slot = 0; slot < core_->cta_slots(); ++slot) {
    if (core_->cta(slot).occupied) {
      touch(slot, *skip);
    }
  }
  for (std::size_t warp = 0; warp < skip->loops.size(); ++warp) {
    if (skip->loops[warp] >= 0) {
      const DecodedLoop& loop = decoded_->loops[static_cast<std::size_t>(skip->loops[warp])];
      core_->loop_counters()[warp].iteration[loop.depth] += skip->iterations[warp / warps_per_cta];
    }
  }
  Slice slice;
  slice.end = skip->cycles;
  slice.issued = replayer_->issued(skip->first_slice, skip->last_slice) * skip->windows;
  return slice;
}

std::optional<Slice> Sm::skip_paths(sim::Cycles now) {
  if (to_leave_out_ == 0) {
    return std::nullopt;
  }
  const std::optional<PathSkip> skip = paths_->skip(replayer_->core_now(), to_leave_out_, pace_windows_);
  if (!skip) {
    return std::nullopt;
  }
  replayer_->catch_up();
  replayer_->forget_slices();
  const auto warps_per_cta = static_cast<int>(decoded_->warps_per_cta);
  for (int slot = 0; slot < core_->cta_slots(); ++slot) {
    const PathTarget& target = skip->targets[static_cast<std::size_t>(slot)];
    for (int warp = slot * warps_per_cta; target.to != nullptr && warp < (slot + 1) * warps_per_cta; ++warp) {
      const std::size_t depth = decoded_->loops[target.to->loop].depth;
      LoopCounters counters = target.to->counters;
      counters.iteration[depth] =
          static_cast<std::uint32_t>(core_->loop_counters_of(warp).iteration[depth] + target.iterations);
      core_->move_warp(warp, target.from->loop, target.to->loop, counters);
    }
  }
  to_leave_out_ = 0;
  paths_->go_on(*skip);
  skipper_->start_anew();
  Slice slice;
  slice.end = static_cast<std::int32_t>(skip->cycles);
  slice.issued = skip->issued;
  slice.left_out = true;
  core_->set_phase(now + slice.end);
  return slice;
}

void Sm::touch(int slot, const LoopSkip& skip) {
  const auto warps_per_cta = static_cast<std::ptrdiff_t>(decoded_->warps_per_cta);
  const auto first = skip.loops.begin() + slot * warps_per_cta;
  const std::vector<Stretch> stretches =
      loop_footprint(*core_, *decoded_, {first, first + warps_per_cta}, slot, *accesses_);
  const std::uint32_t iterations = skip.iterations[static_cast<std::size_t>(slot)];
  // What is accessed within an epoch is sent together: that far its order does not matter to the load.
  const std::uint32_t together = static_cast<std::uint32_t>(
      std::clamp<std::int64_t>(memory::kEpochCycles * iterations / std::max(1, skip.cycles), 1, iterations));
  for (std::uint32_t i = 0; i < iterations; ++i) {
    for (const Stretch& stretch : stretches) {
      const Address begin{stretch.begin.segment + stretch.step.segment * i,
                          stretch.begin.offset + stretch.step.offset * i};
      gathered_.add({stretch.kind, stretch.tensor, begin, stretch.bytes, stretch.runs});
    }
    if ((i + 1) % together == 0 || i + 1 == iterations) {
      const std::uint32_t sent = i / together * together;
      send_gathered(static_cast<std::int32_t>(std::int64_t{skip.cycles} * sent / iterations), true);
    }
  }
}

void Sm::count_demand(const MemoryRequest& own, std::uint32_t asked_bytes, std::uint32_t again_bytes,
                      std::uint64_t times) {
  Demand& demand = demand_[own.tensor];
  const bool read = own.kind == memory::AccessKind::read;
  (read ? demand.read_asked : demand.write_asked) += times * asked_bytes;
  (read ? demand.read_moved : demand.write_moved) +=
      times * (read ? sector_bytes(own) + again_bytes : own.bytes);
}

memory::Response Sm::send(const MemoryRequest& request, std::int32_t time) {
  const trace::MemoryOperand& operand = decoded_->memory_operands[request.operand];
  const std::uint32_t bytes = operand.bytes;
  const MemberRuns& runs = accesses_->runs(request.cta_slot, request.operand);
  count_demand(request, bytes, 0, runs.members);
  if (!runs.others.empty()) {
    gathered_.add({request.kind, request.tensor, request.asked, bytes, &runs});
  }
  if (request.bytes == 0) {
    return {};
  }
  transaction_.companions.clear();
  transaction_.place = {.segment = request.segment,
                        .offset = request.offset,
                        .bytes = request.bytes,
                        .partitions = runs.own.partitions,
                        .accesses = runs.own.members,
                        .apart_cycles = accesses_->members(request.cta_slot).apart_cycles};
  transaction_.lines = operand.lines;
  return transport(request.kind, request.tensor, time, true);
}

void Sm::add_companions(const JoinedAccess& access, std::uint32_t again_bytes) {
  const trace::Tensor& tensor = trace_->tensors[access.tensor];
  const auto bytes = static_cast<std::uint32_t>(access.bytes);
  const std::int64_t last_offset = tensor.segment_bytes - access.bytes;
  const std::int64_t segments =
      tensor.kind == trace::TensorKind::local ? std::numeric_limits<std::int64_t>::max() : tensor.segments;
  const auto add = [&](const MemberRun& run, std::int64_t segment, std::int64_t offset,
                       std::uint32_t inside_bytes) {
    transaction_.companions.push_back(
        {segment, offset, inside_bytes, run.partitions, run.members * access.times, again_bytes});
  };
  for (const MemberRun& run : access.runs->others) {
    const Address begin{access.begin.segment + run.distance.segment,
                        access.begin.offset + run.distance.offset};
    // Nearly all of them: nothing to clip.
    if (begin.segment >= 0 && begin.segment < segments && begin.offset >= 0 && begin.offset <= last_offset) {
      add(run, begin.segment, begin.offset, bytes);
      continue;
    }
    MemoryRequest request;
    request.asked = begin;
    clip(request, tensor, bytes);
    if (request.bytes > 0) {
      add(run, request.segment, request.offset, request.bytes);
    }
  }
}

void Sm::send_gathered(std::int32_t time, bool with_own) {
  if (gathered_.empty()) {
    return;
  }
  for (const JoinedAccess& access : gathered_.join()) {
    const std::uint32_t again_bytes = access.kind == memory::AccessKind::read ? access.again_bytes : 0;
    transaction_.place = {};
    if (with_own) {
      const MemberRun& own = access.runs->own;
      const auto bytes = static_cast<std::uint32_t>(access.bytes);
      MemoryRequest request;
      request.kind = access.kind;
      request.tensor = access.tensor;
      request.asked = access.begin;
      clip(request, trace_->tensors[access.tensor], bytes);
      transaction_.place = {
          request.segment, request.offset, request.bytes, own.partitions, own.members * access.times,
          again_bytes};
      count_demand(request, bytes, again_bytes, std::uint64_t{access.runs->members} * access.times);
    }
    transaction_.companions.clear();
    add_companions(access, again_bytes);
    if (transaction_.place.bytes > 0 || !transaction_.companions.empty()) {
      transport(access.kind, access.tensor, time, false);
    }
  }
  gathered_.clear();
}

memory::Response Sm::transport(memory::AccessKind kind, std::uint16_t tensor, std::int32_t time, bool timed) {
  const memory::Place& own = transaction_.place;
  payload_.set_command(kind == memory::AccessKind::read ? tlm::TLM_READ_COMMAND : tlm::TLM_WRITE_COMMAND);
  payload_.set_address(static_cast<sc_dt::uint64>(own.offset));
  payload_.set_data_length(own.bytes);
  payload_.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  transaction_.kind = kind;
  transaction_.tensor = tensor;
  transaction_.time_cycles = slice_start_ + time;
  transaction_.timed = timed;
  transaction_.response = {};
  sc_core::sc_time delay;
  memory_side->b_transport(payload_, delay);
  if (!timed) {
    return {};
  }
  memory::Response response = transaction_.response;
  response.latency_cycles = static_cast<std::int32_t>(delay.value());
  return response;
}

}  // namespace warpscope::sm

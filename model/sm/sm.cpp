#include "model/sm/sm.hpp"

#include <algorithm>
#include <utility>

#include "model/memory/block_cache.hpp"
#include "model/sm/loop_footprint.hpp"

namespace warpscope::sm {
namespace {

/// Bounds of a slice in cycles. Short enough that requests of different SMs reach the L2 nearly in order of
/// time, long enough that the bookkeeping per slice is small. Slices end at checkpoints, so that equal states
/// meet.
constexpr std::int32_t kMinSliceCycles = 512;
constexpr std::int32_t kMaxSliceCycles = 4096;

/// Reads move whole sectors.
std::uint64_t sector_bytes(const memory::Place& place) {
  constexpr std::int64_t kSector = memory::kSectorBytes;
  const std::int64_t first = place.offset / kSector;
  const std::int64_t last = (place.offset + place.bytes + kSector - 1) / kSector;
  return place.bytes == 0 ? 0 : static_cast<std::uint64_t>((last - first) * kSector);
}

}  // namespace

Sm::Sm(const sc_core::sc_module_name& name, int first_sm, int sms)
    : sc_module(name), memory_side("memory_side"), first_sm_(first_sm), sms_(sms) {
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
  core_->set_sm_index(first_sm_);
  accesses_ = std::make_unique<MemberAccesses>(trace, decoded.memory_operands, cta_slots);
  replayer_.reset();
  skipper_.reset();
  if (memo != nullptr) {
    replayer_.emplace(*core_, *memo);
    // A chip that is simulated SM by SM is simulated to the end.
    if (sms_ > 1) {
      skipper_.emplace(decoded);
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
  core_->set_phase(now);
  if (replayer_) {
    if (const std::optional<Slice> skipped = skipper_ ? skip_loops() : std::nullopt) {
      return *skipped;
    }
    Slice slice = replayer_->run(kMinSliceCycles, kMaxSliceCycles, port_, active_sms());
    if (!skipper_) {
      return slice;
    }
    if (!slice.completions.empty()) {
      skipper_->reset();
    } else if (skipper_->wants_sample(*core_, now + slice.end)) {
      skipper_->sample(replayer_->core_now(), now + slice.end, replayer_->slices());
    }
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

void Sm::touch(int slot, const LoopSkip& skip) {
  const auto warps_per_cta = static_cast<std::ptrdiff_t>(decoded_->warps_per_cta);
  const auto first = skip.loops.begin() + slot * warps_per_cta;
  const std::vector<Stretch> stretches =
      loop_footprint(*core_, *decoded_, {first, first + warps_per_cta}, slot, *accesses_);
  const std::uint32_t iterations = skip.iterations[static_cast<std::size_t>(slot)];
  MemoryRequest request;
  request.cta_slot = static_cast<std::uint8_t>(slot);
  for (std::uint32_t i = 0; i < iterations; ++i) {
    const auto time = static_cast<std::int32_t>(std::int64_t{skip.cycles} * i / iterations);
    for (const Stretch& stretch : stretches) {
      request.kind = stretch.kind;
      request.tensor = stretch.tensor;
      request.asked.segment = stretch.begin.segment + stretch.step.segment * i;
      request.asked.offset = stretch.begin.offset + stretch.step.offset * i;
      transport(request, static_cast<std::uint32_t>(stretch.bytes), *stretch.runs, time, false);
    }
  }
}

memory::Response Sm::send(const MemoryRequest& request, std::int32_t time) {
  const trace::MemoryOperand& operand = decoded_->memory_operands[request.operand];
  const std::uint32_t bytes = operand.bytes;
  transaction_.lines = operand.lines;
  return transport(request, bytes, accesses_->runs(request.cta_slot, request.operand), time, true);
}

memory::Response Sm::transport(const MemoryRequest& request, std::uint32_t bytes,
                               const std::vector<MemberRun>& runs, std::int32_t time, bool timed) {
  const trace::Tensor& tensor = trace_->tensors[request.tensor];
  transaction_.companions.clear();
  MemoryRequest part = request;
  for (const MemberRun& run : runs) {
    part.asked = {request.asked.segment + run.distance.segment, request.asked.offset + run.distance.offset};
    clip(part, tensor, bytes);
    const memory::Place place{part.segment, part.offset, part.bytes,
                              static_cast<std::uint16_t>(first_sm_ + run.first_member),
                              static_cast<std::uint16_t>(run.members)};
    if (run.has_representative) {
      transaction_.companions_before = transaction_.companions.size();
      transaction_.place = place;
    } else if (place.bytes > 0) {
      transaction_.companions.push_back(place);
    }
  }
  const memory::Place& own = transaction_.place;
  const auto ctas = static_cast<std::uint64_t>(members(request.cta_slot));
  Demand& demand = demand_[request.tensor];
  const bool read = request.kind == memory::AccessKind::read;
  (read ? demand.read_asked : demand.write_asked) += ctas * bytes;
  (read ? demand.read_moved : demand.write_moved) += ctas * (read ? sector_bytes(own) : own.bytes);
  if (own.bytes == 0 && transaction_.companions.empty()) {
    return {};
  }
  payload_.set_command(request.kind == memory::AccessKind::read ? tlm::TLM_READ_COMMAND
                                                                : tlm::TLM_WRITE_COMMAND);
  payload_.set_address(static_cast<sc_dt::uint64>(own.offset));
  payload_.set_data_length(own.bytes);
  payload_.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  transaction_.kind = request.kind;
  transaction_.tensor = request.tensor;
  transaction_.time_cycles = slice_start_ + time;
  transaction_.timed = timed && own.bytes > 0;
  transaction_.response = {};
  sc_core::sc_time delay;
  memory_side->b_transport(payload_, delay);
  if (!transaction_.timed) {
    return {};
  }
  memory::Response response = transaction_.response;
  response.latency_cycles = static_cast<std::int32_t>(delay.value());
  return response;
}

}  // namespace warpscope::sm

#include "model/sm/sm.hpp"

#include <algorithm>

namespace warpscope::sm {
namespace {

/// Bounds of a slice in cycles. Short enough that requests of different SMs reach the L2 nearly in order of
/// time, long enough that the bookkeeping per slice is small. Slices end at checkpoints, so that equal states
/// meet.
constexpr std::int32_t kMinSliceCycles = 512;
constexpr std::int32_t kMaxSliceCycles = 4096;

}  // namespace

Sm::Sm(const sc_core::sc_module_name& name, int sm_index)
    : sc_module(name), memory_side("memory_side"), sm_index_(sm_index) {
  payload_.set_extension(&transaction_);
  port_ = [this](const MemoryRequest& request, std::int32_t time) { return send(request, time); };
}

Sm::~Sm() {
  payload_.clear_extension(&transaction_);
}

void Sm::begin_launch(const hw::HwConfig& config, const trace::Trace& trace, const trace::Launch& launch,
                      const DecodedLaunch& decoded, int cta_slots, SliceMemo* memo) {
  core_ = std::make_unique<SmCore>(config, trace, launch, decoded, cta_slots);
  core_->set_sm_index(sm_index_);
  memo_ = memo;
  executed_ = 0;
}

void Sm::install(int slot, const ResidentCta& cta, sim::Cycles start, sim::Cycles now) {
  core_->install(slot, cta, static_cast<std::int32_t>(std::max(start, now) - now));
}

Slice Sm::run_slice(sim::Cycles now) {
  slice_start_ = now;
  core_->set_phase(now);
  if (memo_ != nullptr) {
    return run_memoised(*core_, *memo_, kMinSliceCycles, kMaxSliceCycles, port_, executed_);
  }
  Slice slice = core_->run_slice(kMinSliceCycles, kMaxSliceCycles, port_, nullptr);
  executed_ += slice.issued;
  return slice;
}

memory::Response Sm::send(const MemoryRequest& request, std::int32_t time) {
  payload_.set_command(request.kind == memory::AccessKind::read ? tlm::TLM_READ_COMMAND
                                                                : tlm::TLM_WRITE_COMMAND);
  payload_.set_address(static_cast<sc_dt::uint64>(request.offset));
  payload_.set_data_length(request.bytes);
  payload_.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  transaction_.kind = request.kind;
  transaction_.tensor = request.tensor;
  transaction_.segment = request.segment;
  transaction_.offset = request.offset;
  transaction_.bytes = request.bytes;
  transaction_.sm = static_cast<std::uint16_t>(sm_index_);
  transaction_.time_cycles = slice_start_ + time;
  transaction_.response = {};
  sc_core::sc_time delay;
  memory_side->b_transport(payload_, delay);
  memory::Response response = transaction_.response;
  response.latency_cycles = static_cast<std::int32_t>(delay.value());
  return response;
}

}  // namespace warpscope::sm

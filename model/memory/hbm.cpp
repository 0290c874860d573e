#include "model/memory/hbm.hpp"

#include "model/memory/bandwidth.hpp"
#include "model/memory/transaction.hpp"

namespace warpscope::memory {

Hbm::Hbm(const sc_core::sc_module_name& name, const hw::HwConfig& config, std::size_t tensor_count)
    : sc_module(name), socket("socket"), latency_ns_(config.hbm.latency_ns), traffic_(tensor_count) {
  socket.register_b_transport(this, &Hbm::b_transport);
}

void Hbm::set_sm_clock(double sm_clock_mhz) {
  latency_ = sc_core::sc_time::from_value(
      static_cast<sc_core::sc_time::value_type>(sm_cycles(latency_ns_, sm_clock_mhz)));
}

void Hbm::reset_traffic() {
  traffic_.assign(traffic_.size(), {});
}

void Hbm::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  Transaction* transaction = nullptr;
  payload.get_extension(transaction);
  HbmTraffic& traffic = traffic_[transaction->tensor];
  if (payload.is_read()) {
    traffic.read_bytes += payload.get_data_length();
    delay += latency_;
  } else {
    traffic.write_bytes += payload.get_data_length();
  }
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
}

}  // namespace warpscope::memory

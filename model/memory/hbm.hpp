// HBM behind the L2: latency of a miss, and which tensor's bytes crossed the pins.
#pragma once

#include <tlm_utils/simple_target_socket.h>
#include <cstdint>
#include <systemc>
#include <tlm>
#include <vector>

#include "model/hw/hw_config.hpp"

namespace warpscope::memory {

/// Bytes of one tensor that crossed the pins of HBM.
struct HbmTraffic {
  std::uint64_t read_bytes = 0;
  std::uint64_t write_bytes = 0;
};

/// TLM target. Adds the latency of a row access to the annotated delay (one time unit is one SM cycle) and
/// counts bytes by the tensor named in the payload's Transaction. Bandwidth is divided among SMs by the L2
/// (bandwidth.hpp).
class Hbm : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<Hbm> socket;

  Hbm(const sc_core::sc_module_name& name, const hw::HwConfig& config, std::size_t tensor_count);

  /// Latency in cycles of the SM clock that the current launch runs at.
  void set_sm_clock(double sm_clock_mhz);
  void reset_traffic();
  const std::vector<HbmTraffic>& traffic() const { return traffic_; }

 private:
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);

  double latency_ns_;
  sc_core::sc_time latency_;
  std::vector<HbmTraffic> traffic_;
};

}  // namespace warpscope::memory

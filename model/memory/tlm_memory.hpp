// Somebody else's memory, by way of TLM-2.0.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <systemc>
#include <tlm>
#include <vector>

#include "model/memory/address_map.hpp"
#include "model/memory/memory.hpp"
#include "model/metrics/moved_bytes.hpp"
#include "model/sim/sm_clock.hpp"

namespace warpscope::memory {

/// Says of a payload what its address does not. Targets may ignore it.
class RequestInfo : public tlm::tlm_extension<RequestInfo> {
 public:
  AccessKind kind = AccessKind::read;  ///< a reduction is a write for those who do not look here
  std::uint16_t sm = 0;
  TensorPlace place;

  tlm::tlm_extension_base* clone() const override { return new RequestInfo(*this); }
  void copy_from(const tlm::tlm_extension_base& other) override {
    *this = static_cast<const RequestInfo&>(other);
  }
};

/// Sends every request of an SM to the target that is bound to `socket`, as a plain payload by b_transport,
/// in the order in which they leave the SMs: a flat address, read or write, length. The simulation stands at
/// the begin of a window; the annotated delay says how much later the request leaves its SM, and what the
/// target makes of that when the answer arrives there. Reads bring zeros, as the model knows no data.
///
/// The target must not wait(), and no answer may take less than `least_latency`: SMs run alone for so long.
/// The shorter it is, the slower is the simulation; the cycles do not depend on it.
class TlmMemory : public sc_core::sc_module, public Memory {
 public:
  tlm_utils::simple_initiator_socket<TlmMemory> socket;

  TlmMemory(const sc_core::sc_module_name& name, const std::vector<TensorExtent>& tensors,
            const sc_core::sc_time& least_latency);
  ~TlmMemory() override;

  const AddressMap& addresses() const { return addresses_; }

  /// What a target keeps between launches is its own affair. Throws std::invalid_argument where the least
  /// latency is less than a cycle.
  void begin_launch(double sm_clock_mhz, bool keep_contents) override;
  std::int64_t least_latency_cycles() const override { return clock_.cycles_down(least_latency_); }
  std::int64_t store_reply_cycles() const override { return 0; }
  int split(const Access& access, std::vector<Piece>& pieces) const override;
  /// Throws std::runtime_error where a target refuses a request or answers too soon.
  void serve(std::span<std::vector<Piece>* const> asked, std::size_t part, std::size_t parts) override;
  /// What lies behind the socket is not known: all counts as bytes between SMs and L2, and nothing of it as
  /// hits.
  std::vector<metrics::MovedBytes> traffic() const override { return traffic_; }
  std::int64_t used_bytes() const override { return 0; }

 private:
  void send(Piece& piece);

  AddressMap addresses_;
  sc_core::sc_time least_latency_;
  sim::SmClock clock_;
  std::vector<metrics::MovedBytes> traffic_;
  std::vector<Piece*> in_order_;     ///< kept to save its memory
  std::vector<unsigned char> data_;  ///< of the payload
  tlm::tlm_generic_payload payload_;
  RequestInfo info_;
};

}  // namespace warpscope::memory

// What travels between SM, L2 and HBM: a TLM-2.0 generic payload with this extension.
#pragma once

#include <cstdint>
#include <tlm>
#include <vector>

namespace warpscope::memory {

/// Port time is counted in 1/kPortUnits of an SM cycle, so that a share of 33 bytes per clock needs no
/// rounding up.
inline constexpr std::int32_t kPortUnits = 64;

/// What a request cost. Two equal responses have the same effect on the SM that made the request.
struct Response {
  std::int32_t latency_cycles = 0;    ///< request to data, without any waiting
  std::int32_t l2_port_units = 0;     ///< time the SM's share of L2 bandwidth is taken
  std::int32_t dram_port_units = 0;   ///< likewise of HBM bandwidth, now or by a later write-back
  std::int32_t l2_slack_units = 0;    ///< the SM may be ahead of its share of the L2 by this much
  std::int32_t dram_slack_units = 0;  ///< likewise of HBM
  std::int32_t sm_port_units = 0;     ///< time the SM's own port to the L2 is taken
  std::int32_t dram_bytes = 0;        ///< waited for from HBM, whoever asked for them
  std::int32_t page_wait_cycles = 0;  ///< mean wait for one HBM page

  bool operator==(const Response&) const = default;
};

enum class AccessKind : std::uint8_t { read, write, reduce };

/// The partition of the L2 that an SM belongs to, as a bit mask.
constexpr std::uint32_t partition_of_sm(int sm, int partitions) {
  return 1U << (sm % partitions);
}

/// Where an access goes and which SMs make it: each a little later than the one before, though only one time
/// is known.
struct Place {
  std::int64_t segment = 0;
  std::int64_t offset = 0;  ///< first byte within the segment
  std::uint32_t bytes = 0;
  std::uint32_t partitions = 1;   ///< of these SMs, a bit mask
  std::uint32_t accesses = 1;     ///< SMs that make it, each as often as it does
  std::uint32_t again_bytes = 0;  ///< of sectors read in several pieces, each time but the first
  std::int32_t apart_cycles = 0;  ///< between two SMs that follow one another
};

/// Names what a payload moves (tensor and place) and carries the response back. A foreign TLM memory
/// may ignore it: the annotated delay of b_transport is the latency, and an untouched response takes no
/// bandwidth.
class Transaction : public tlm::tlm_extension<Transaction> {
 public:
  AccessKind kind = AccessKind::read;
  std::uint16_t tensor = 0;
  Place place;
  /// The same access of other SMs at the same time, each at its own place; their responses are not asked for.
  std::vector<Place> companions;
  int lines = 0;                 ///< 128-byte lines that hold the bytes; 0: as few as can hold them
  bool timed = true;             ///< false: only contents and traffic count, nobody waits for a response
  std::int64_t time_cycles = 0;  ///< when the SM sends the request
  Response response;

  tlm::tlm_extension_base* clone() const override { return new Transaction(*this); }
  void copy_from(const tlm::tlm_extension_base& other) override {
    *this = static_cast<const Transaction&>(other);
  }
};

}  // namespace warpscope::memory

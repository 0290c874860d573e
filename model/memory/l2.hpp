// The L2 cache that all SMs share: what hits, what it costs, and how bandwidth is divided.
#pragma once

#include <tlm_utils/multi_passthrough_target_socket.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <cstdint>
#include <map>
#include <span>
#include <systemc>
#include <tlm>
#include <vector>

#include "model/hw/hw_config.hpp"
#include "model/memory/bandwidth.hpp"
#include "model/memory/partitioned_cache.hpp"
#include "model/memory/transaction.hpp"

namespace warpscope::memory {

/// Load is summed over epochs of this length and takes effect two epochs later, when all SMs have passed the
/// first: a response must not depend on how far one SM runs ahead of another.
inline constexpr std::int64_t kEpochCycles = 8192;
inline constexpr std::int64_t kEpochDelay = 2;
/// Epochs that the load is averaged over, so that a burst does not make it swing.
inline constexpr std::int64_t kEpochsAveraged = 4;
/// From here on responses reflect the average load of the launch itself.
inline constexpr std::int64_t kLoadSettledCycles = (kEpochDelay + kEpochsAveraged) * kEpochCycles;

/// Bytes of one tensor between the SMs and the L2; reads in whole sectors.
struct L2Traffic {
  std::uint64_t read_bytes = 0;
  std::uint64_t read_hit_bytes = 0;
  std::uint64_t write_bytes = 0;
};

/// Room that a tensor takes in memory.
struct TensorExtent {
  std::int64_t segments = 1;
  std::int64_t segment_bytes = 0;
};

/// TLM target of every SM, initiator towards HBM. A request names its tensor in a Transaction; segments of a
/// tensor start at block boundaries. The response is a function of what was accessed before and of the load
/// of past epochs, never of the order of requests inside an epoch's sums.
class L2 : public sc_core::sc_module {
 public:
  tlm_utils::multi_passthrough_target_socket<L2> sm_side;
  tlm_utils::simple_initiator_socket<L2> hbm_side;

  L2(const sc_core::sc_module_name& name, const hw::HwConfig& config,
     const std::vector<TensorExtent>& tensors);

  ~L2() override;

  /// Starts a launch: sets the clock, forgets the load history and, unless `keep_contents`, the contents.
  void begin_launch(double sm_clock_mhz, bool keep_contents);
  /// How many SMs have work, from `time` on.
  void set_active_sms(int active_sms);
  /// HBM bytes asked for during one epoch.
  struct Load {
    std::uint64_t read_bytes = 0;
    std::uint64_t write_bytes = 0;
  };
  /// The mean over the epochs between two times.
  Load mean_load(std::int64_t begin_cycles, std::int64_t end_cycles) const;
  /// A share of `load` in every epoch of a time in which nobody makes the requests that belong to it.
  void add_load(const Load& load, double share, std::int64_t begin_cycles, std::int64_t end_cycles);
  const std::vector<L2Traffic>& traffic() const { return traffic_; }
  std::int64_t dirty_bytes() const { return cache_.dirty_bytes(); }
  std::int64_t used_bytes() const { return cache_.used_bytes(); }

 private:
  void b_transport(int id, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  /// Looks up what the transaction does at `places` and counts what moves between the SMs and the L2. What is
  /// found is added to `found`, which is empty.
  void access(const Transaction& transaction, std::span<const Place> places, Lookup& found);
  void to_hbm(tlm::tlm_command command, std::uint32_t tensor, std::int64_t bytes, sc_core::sc_time& delay);
  /// What the load of past epochs means for a request.
  struct Conditions {
    BandwidthShare share;
    std::int32_t l2_slack_units = 0;
    std::int32_t dram_slack_units = 0;
    std::int32_t page_wait_cycles = 0;
  };
  /// Load of HBM in steps, so that like loads give equal responses.
  struct LoadLevel {
    int utilisation = 0;  ///< of peak, in 1/kUtilisationSteps
    int writes = 0;       ///< part of the traffic, in 1/kWriteSteps
  };
  LoadLevel next_level(std::int64_t epoch, const LoadLevel& held) const;
  const Conditions& conditions_at(std::int64_t epoch);
  const Conditions& conditions_of(const LoadLevel& level);
  /// Which of several SMs with one request it is whose response is given; the first one misses.
  static std::int64_t turn_of(const Place& place);

  hw::HwConfig config_;
  std::vector<std::int64_t> blocks_per_segment_;
  std::vector<std::int64_t> tensor_base_;  ///< first block of each tensor
  PartitionedCache cache_;
  std::vector<L2Traffic> traffic_;
  std::vector<WriteBack> written_back_;
  double sm_clock_mhz_ = 1;
  std::int64_t hbm_latency_cycles_ = 0;
  std::int64_t fill_cycles_ = 0;  ///< data asked of HBM is on its way for so long
  int active_sms_ = 1;
  std::vector<Load> load_;  ///< by epoch
  double peak_bytes_per_epoch_ = 1;
  std::map<int, Conditions> conditions_;  ///< by active SMs, utilisation and write fraction in steps
  std::vector<LoadLevel> levels_;         ///< by epoch
  std::int64_t current_epoch_ = -1;       ///< what `current_` holds for; -1: nothing
  const Conditions* current_ = nullptr;
  tlm::tlm_generic_payload hbm_payload_;
  Transaction hbm_transaction_;
};

}  // namespace warpscope::memory

// The slices of the L2 and the HBM behind them, as all SMs together see them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/hw/hw_config.hpp"
#include "model/memory/address_map.hpp"
#include "model/memory/l2_slice.hpp"
#include "model/memory/lookups.hpp"
#include "model/memory/memory.hpp"
#include "model/memory/piece_order.hpp"
#include "model/metrics/moved_bytes.hpp"

namespace warpscope::memory {

/// Blocks of 2 KB are dealt to slices by their number. What a slice holds, and what it asks of HBM, is its
/// own affair, so that slices can be served on several threads of the host; each of these counts the lookups
/// of all.
class MemorySystem final : public Memory {
 public:
  MemorySystem(const hw::HwConfig& config, const std::vector<TensorExtent>& tensors);

  void begin_launch(double sm_clock_mhz, bool keep_contents) override;
  std::int64_t least_latency_cycles() const override { return least_hit_cycles(config_.l2); }
  std::int64_t store_reply_cycles() const override { return config_.l2.hit_latency_cycles; }
  /// A piece for each block of the L2.
  int split(const Access& access, std::vector<Piece>& pieces) const override;
  void serve(std::span<std::vector<Piece>* const> asked, std::size_t part, std::size_t parts) override;
  /// What SMs ask for that another one stands for, so that nobody waits for the answers: it changes what the
  /// L2 holds, and takes its part of the queues from `time_cycles` on.
  void touch(std::span<const Access> accesses, std::int64_t time_cycles);
  std::vector<metrics::MovedBytes> traffic() const override;
  std::uint64_t earlier_bytes() const override;
  std::int64_t used_bytes() const override;

 private:
  /// What nobody waits for, as Lookups are told it.
  struct Background {
    std::int64_t time = 0;
    std::int64_t service = 0;
    std::int64_t piece = 0;
  };
  /// Of a part that serves.
  struct PartLookups {
    Lookups lookups;
    std::size_t heard = 0;  ///< of `told_`: few parts serve, and only they need to hear it
  };
  /// What ran before has written config.l2.left_dirty_bytes.
  void leave_dirty();
  /// Fills in each piece of the access where `place` says; then calls `use` with it. Returns how many these
  /// are.
  template <typename Place, typename Use>
  int for_each_piece(const Access& access, const Place& place, const Use& use) const;

  hw::HwConfig config_;
  AddressMap addresses_;
  std::vector<TensorExtent> tensors_;
  SliceTiming timing_;
  std::vector<L2Slice> slices_;
  std::vector<PieceOrder> orders_;     ///< by the first slice of a part; kept to save their memory
  std::vector<PartLookups> lookups_;   ///< likewise: all parts that serve count the same
  std::vector<Background> told_;       ///< in this launch
  std::vector<Piece> touched_;         ///< kept to save their memory
  std::vector<BlockAddress> located_;  ///< of these
};

}  // namespace warpscope::memory

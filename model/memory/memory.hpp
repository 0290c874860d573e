// What the SMs need of a memory, whichever it is.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/memory/piece.hpp"
#include "model/memory/tensor_extent.hpp"
#include "model/metrics/moved_bytes.hpp"

namespace warpscope::memory {

/// A request of one SM for consecutive bytes of a tensor.
struct Access {
  std::int64_t time_cycles = 0;  ///< when it leaves the SM
  std::uint32_t number = 0;      ///< of its first piece, in the order of its SM
  std::uint32_t request = 0;     ///< Piece::request
  std::uint16_t sm = 0;
  std::uint16_t tensor = 0;
  AccessKind kind = AccessKind::read;
  std::int64_t segment = 0;
  std::int64_t offset = 0;  ///< first byte within the segment
  std::uint32_t bytes = 0;
  int lines = 0;  ///< of 128 bytes that hold them; 0: as few as can
  /// Several SMs that ask for the same bytes are one access.
  std::uint32_t accesses = 1;
  std::uint32_t partitions = 0;   ///< of the L2 that these SMs belong to, a bit mask; 0: that of `sm`
  std::int32_t apart_cycles = 0;  ///< between two of them
  std::uint32_t again_bytes = 0;  ///< of sectors read in several pieces, each time but the first
};

/// Answers what all SMs of a GPU ask for. Windows of the engine are no longer than the least latency, so that
/// all requests of a window are known before the first answer to one of them arrives.
class Memory {
 public:
  virtual ~Memory() = default;
  /// Starts a launch: empties the queues and, unless `keep_contents`, the caches.
  virtual void begin_launch(double sm_clock_mhz, bool keep_contents) = 0;
  /// No request of this launch is answered sooner after it has left its SM. At least one cycle.
  virtual std::int64_t least_latency_cycles() const = 0;
  /// Part of the latency of a store in which its SM is told that it is done, and no byte moves any more.
  virtual std::int64_t store_reply_cycles() const = 0;
  /// Appends the pieces of the access. Returns how many these are. Called by all threads at any time.
  virtual int split(const Access& access, std::vector<Piece>& pieces) const = 0;
  /// Fills in when the pieces of one window are answered, by SM and number in `asked`, in the total order
  /// (goes_before()): what falls to part number `part` of `parts` equal ones. Parts are served at the same
  /// time, number 0 on the thread that simulates; all of a window before any of the next.
  virtual void serve(std::span<std::vector<Piece>* const> asked, std::size_t part, std::size_t parts) = 0;

  /// By tensor, of this launch so far.
  virtual std::vector<metrics::MovedBytes> traffic() const = 0;
  /// Written to HBM in this launch, but dirty before it.
  virtual std::uint64_t earlier_bytes() const { return 0; }
  /// Of the L2.
  virtual std::int64_t used_bytes() const = 0;
};

}  // namespace warpscope::memory

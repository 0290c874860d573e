// How large a trace may be: far enough inside what integers hold that no sum or product of the model
// overflows, and beyond anything a GPU can execute. FORMAT.md states them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace warpscope::trace {

/// Bytes of all tensors together, and the distance of an access from the begin of its tensor, in segments and
/// in bytes: the virtual addresses of a GPU have about as many bits.
inline constexpr std::int64_t kMostAddress = std::int64_t{1} << 48;
inline constexpr std::int64_t kMostLineSegments = 64;  ///< of a line of 128 bytes, two bytes at least each
inline constexpr std::int64_t kMostSegments = std::int64_t{1} << 31;
/// Segments of a tensor of kind local, whatever it says: CTA slots of the largest chip.
inline constexpr std::int64_t kMostLocalSegments = std::int64_t{1} << 15;
/// Of one entry of a loop.
inline constexpr std::uint64_t kMostTrips = 0xffffffff;
/// Of a launch.
inline constexpr std::uint64_t kMostCtas = std::uint64_t{1} << 32;
inline constexpr std::size_t kMostClasses = std::size_t{1} << 16;
/// Groups of asynchronous copies that DEPBAR.LE leaves pending. An SM tells no more of them apart, so beyond
/// this a wait would be for others.
inline constexpr int kMostPendingGroups = 6;
/// Lines of 64 bytes of the constants that a launch has: 4 KB of parameters.
inline constexpr int kConstantLines = 64;
/// Instructions that a branch jumps over: more than any kernel here has.
inline constexpr int kMostJumpedOver = 16384;
/// Rings of mbarriers of a launch, and mbarriers of a ring.
inline constexpr int kMostRings = 16;
inline constexpr int kMostRingSlots = 64;
/// Of a phase: 1024 threads, and what the hardware counts of bytes.
inline constexpr int kMostArrivals = 1024;
inline constexpr std::uint32_t kMostTransactionBytes = (std::uint32_t{1} << 20) - 1;
/// Of a trace.
inline constexpr std::uint64_t kMostWarpInstructions = std::uint64_t{1} << 50;

}  // namespace warpscope::trace

// The L2: its contents alone, and with the queues around it. An item is an access.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <span>
#include <vector>

#include "experiments/point/point.hpp"
#include "model/hw/config_loader.hpp"
#include "model/memory/memory_system.hpp"
#include "tests/support/sector_access.hpp"

namespace warpscope::memory {
namespace {

constexpr std::int64_t kCapacityBlocks = 1 << 14;
constexpr std::int64_t kAccessBytes = 512;

/// Goes round `blocks` blocks, 16 sectors at a time: fewer than there is room for hit, more miss.
void block_cache(benchmark::State& state, std::int64_t blocks, bool write) {
  PartitionedCache cache({.capacity_bytes = kCapacityBlocks * kBlockBytes,
                          .ways = 16,
                          .dirty_bytes = kCapacityBlocks * kBlockBytes});
  std::vector<WriteBack> written;
  std::int64_t access = 0;
  for (auto _ : state) {
    written.clear();
    const SectorAccess what{
        .first_block = block_key(0, access / 4), .first_sector = access % 4 * 16, .sectors = 16};
    Lookup found;
    if (write) {
      write_sectors(cache, what, found, written);
    } else {
      read_sectors(cache, what, found, written);
    }
    benchmark::DoNotOptimize(found);
    access = access + 1 == 4 * blocks ? 0 : access + 1;
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK_CAPTURE(block_cache, read_hits, kCapacityBlocks / 2, false);
BENCHMARK_CAPTURE(block_cache, read_misses, kCapacityBlocks * 2, false);
BENCHMARK_CAPTURE(block_cache, write_evicts, kCapacityBlocks * 2, true);

/// 64 accesses of one SM at a time, which read `bytes` again and again.
void l2(benchmark::State& state, std::int64_t bytes) {
  constexpr int kAccesses = 64;
  const hw::HwConfig config = hw::load("a100-sxm4-80gb", {}, experiments::config_directory()).config;
  MemorySystem memory(config, {{.segments = 1, .segment_bytes = bytes}});
  memory.begin_launch(config.clock.max_mhz, false);
  Access access;
  access.bytes = kAccessBytes;
  std::vector<Piece> pieces;
  std::vector<Piece>* const asked = &pieces;
  for (auto _ : state) {
    pieces.clear();
    for (int i = 0; i < kAccesses; ++i) {
      memory.split(access, pieces);
      access.offset = access.offset + kAccessBytes == bytes ? 0 : access.offset + kAccessBytes;
      access.time_cycles += 4;
    }
    memory.serve(std::span(&asked, 1), 0, 1);
    benchmark::DoNotOptimize(pieces.data());
  }
  state.SetItemsProcessed(kAccesses * state.iterations());
}
BENCHMARK_CAPTURE(l2, hits, 8 << 20);
BENCHMARK_CAPTURE(l2, misses, 128 << 20);

}  // namespace
}  // namespace warpscope::memory

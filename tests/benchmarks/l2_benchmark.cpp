// The L2: its contents alone, and a request over TLM. An item is an access.
#include <benchmark/benchmark.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <cstdint>
#include <vector>

#include "experiments/point/point.hpp"
#include "model/hw/config_loader.hpp"
#include "model/memory/hbm.hpp"
#include "model/memory/l2.hpp"
#include "model/sim/simulation_context.hpp"

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
      cache.write(what, found, written);
    } else {
      cache.read(what, found, written);
    }
    benchmark::DoNotOptimize(found);
    access = access + 1 == 4 * blocks ? 0 : access + 1;
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK_CAPTURE(block_cache, read_hits, kCapacityBlocks / 2, false);
BENCHMARK_CAPTURE(block_cache, read_misses, kCapacityBlocks * 2, false);
BENCHMARK_CAPTURE(block_cache, write_evicts, kCapacityBlocks * 2, true);

struct Requester : sc_core::sc_module {
  explicit Requester(const sc_core::sc_module_name& name) : sc_module(name), socket("socket") {
    payload.set_command(tlm::TLM_READ_COMMAND);
    payload.set_extension(&transaction);
    transaction.place.bytes = kAccessBytes;
  }
  ~Requester() override { payload.clear_extension(&transaction); }

  tlm_utils::simple_initiator_socket<Requester> socket;
  tlm::tlm_generic_payload payload;
  Transaction transaction;
};

/// Reads `bytes` again and again.
void l2(benchmark::State& state, std::int64_t bytes) {
  const hw::HwConfig config = hw::load("a100-sxm4-80gb", {}, experiments::config_directory()).config;
  sim::SimulationContext context;
  Requester requester("requester");
  L2 cache("l2", config, {{.segments = 1, .segment_bytes = bytes}});
  Hbm hbm("hbm", config, 1);
  requester.socket.bind(cache.sm_side);
  cache.hbm_side.bind(hbm.socket);
  sc_core::sc_report_handler::set_actions(sc_core::SC_ID_NO_SC_START_ACTIVITY_, sc_core::SC_DO_NOTHING);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  cache.begin_launch(config.clock.max_mhz, false);
  hbm.set_sm_clock(config.clock.max_mhz);
  std::int64_t& offset = requester.transaction.place.offset;
  for (auto _ : state) {
    sc_core::sc_time delay;
    requester.socket->b_transport(requester.payload, delay);
    benchmark::DoNotOptimize(requester.transaction.response);
    offset = offset + kAccessBytes == bytes ? 0 : offset + kAccessBytes;
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK_CAPTURE(l2, hits, 8 << 20);
BENCHMARK_CAPTURE(l2, misses, 128 << 20);

}  // namespace
}  // namespace warpscope::memory

#include "model/hw/config_schema.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <type_traits>

#include "model/base/nearest_name.hpp"
#include "model/hw/model_room.hpp"

namespace warpscope::hw {
namespace {

// The model holds every legal value: what takes memory of the host is bounded by it (sixteen blocks of 50
// bytes for 2 KB of an L2 of one way), what has a fixed room by that (model/hw/model_room.hpp), and what is
// stored with few bits by those (model/sm/decoded_launch.hpp).
//
// The path is written once, so that the name of a key cannot drift from the field it fills.
#define WARPSCOPE_KEY(path) #path, [](HwConfig & config) -> Field { return &config.path; }

// clang-format off
constexpr std::array key_table{
  KeySpec{WARPSCOPE_KEY(gpu.name), "", 0, 0, "product name"},
  KeySpec{WARPSCOPE_KEY(gpu.compute_capability), "", 0, 0, "compute capability, major.minor"},
  KeySpec{WARPSCOPE_KEY(gpu.sm_count), "SMs", 1, 1024, "streaming multiprocessors that are enabled"},
  KeySpec{WARPSCOPE_KEY(gpu.memory_bytes), "bytes", 1, 1e13, "device memory, all stacks together"},

  KeySpec{WARPSCOPE_KEY(clock.max_mhz), "MHz", 100, 10000, "SM clock of launches without tensor instructions"},
  KeySpec{WARPSCOPE_KEY(clock.tensor_mhz), "MHz", 100, 10000, "SM clock of launches with tensor instructions, below the power limit"},

  KeySpec{WARPSCOPE_KEY(sm.sub_cores), "sub-cores", 1, kMostSubCores, "sub-cores of an SM, one warp scheduler each"},
  KeySpec{WARPSCOPE_KEY(sm.max_warps), "warps", 1, kMostWarps, "resident warps of an SM"},
  KeySpec{WARPSCOPE_KEY(sm.max_ctas), "CTAs", 1, kMostCtas, "resident CTAs of an SM"},
  KeySpec{WARPSCOPE_KEY(sm.max_threads_per_cta), "threads", 32, 32768, "largest CTA"},
  KeySpec{WARPSCOPE_KEY(sm.registers), "registers", 32, 16777216, "32-bit registers of an SM"},
  KeySpec{WARPSCOPE_KEY(sm.max_registers_per_thread), "registers", 1, 1024, "most registers of one thread"},
  KeySpec{WARPSCOPE_KEY(sm.register_allocation_unit), "registers", 1, 65536, "a warp's registers are rounded up to this"},

  KeySpec{WARPSCOPE_KEY(sm.issue.branch_cycles), "cycles", 0, 1000, "a taken branch keeps its warp from issuing"},
  KeySpec{WARPSCOPE_KEY(sm.issue.cta_turnaround_spread_cycles), "cycles", 0, 100000, "width of its distribution, less around short turnarounds"},
  KeySpec{WARPSCOPE_KEY(sm.issue.cta_turnaround_cycles), "cycles", 0, 100000, "end of a CTA to first instruction of its successor in the slot"},
  KeySpec{WARPSCOPE_KEY(sm.issue.uniform_latency_cycles), "cycles", 1, 1000, "uniform datapath, issue to dependent issue"},

  KeySpec{WARPSCOPE_KEY(sm.operands.banks), "banks", 1, 8, "of registers, each of which gives one in a cycle"},
  KeySpec{WARPSCOPE_KEY(sm.operands.window_cycles), "cycles", 1, 8, "in which an FMA or ALU instruction reads its operands, or stands"},
  KeySpec{WARPSCOPE_KEY(sm.operands.late_cycles), "cycles", 0, 16, "from the issue of an XU or memory instruction to its first register"},

  KeySpec{WARPSCOPE_KEY(sm.icache.l0_bytes), "bytes", 1, 16777216, "code that streams at full rate (L0 and L1 together), of a TPC"},
  KeySpec{WARPSCOPE_KEY(sm.icache.l1_bytes), "bytes", 1, 16777216, "next instruction cache level, shared by the SM"},
  KeySpec{WARPSCOPE_KEY(sm.icache.line_bytes), "bytes", 16, 4096, "instruction cache line"},
  KeySpec{WARPSCOPE_KEY(sm.icache.l1_fill_cycles), "cycles", 0, 10000, "from asking the next level for a line to its arrival"},
  KeySpec{WARPSCOPE_KEY(sm.icache.l1_line_cycles), "cycles", 0, 10000, "between two lines from the next level"},
  KeySpec{WARPSCOPE_KEY(sm.icache.gpu_lines_per_clk), "lines", 0.001, 1000, "from the next level to all SMs together"},
  KeySpec{WARPSCOPE_KEY(sm.icache.preloaded_bytes), "bytes", 0, 16777216, "code that a launch finds in the next level"},
  KeySpec{WARPSCOPE_KEY(sm.icache.prefetch_lines), "lines", 0, 64, "lines that the prefetcher runs ahead of a warp"},
  KeySpec{WARPSCOPE_KEY(sm.icache.l2_fill_cycles), "cycles", 0, 10000, "between two lines from the L2"},
  KeySpec{WARPSCOPE_KEY(sm.icache.memory_fill_cycles), "cycles", 0, 10000, "between two lines that no SM has asked for yet"},

  KeySpec{WARPSCOPE_KEY(sm.constant.latency_cycles), "cycles", 1, 1000, "LDC, issue to dependent issue"},
  KeySpec{WARPSCOPE_KEY(sm.constant.miss_cycles), "cycles", 0, 10000, "more at the first read of a line of parameters in a launch"},
  KeySpec{WARPSCOPE_KEY(sm.constant.first_miss_cycles), "cycles", 0, 10000, "the same, at the first of all reads"},

  KeySpec{WARPSCOPE_KEY(sm.tensor.hmma_16816.interval_cycles), "cycles", 1, 1000, "between two m16n8k16 on one sub-core"},
  KeySpec{WARPSCOPE_KEY(sm.tensor.hmma_16816.latency_cycles), "cycles", 1, 1000, "m16n8k16, issue to dependent issue"},
  KeySpec{WARPSCOPE_KEY(sm.tensor.hmma_16816.read_cycles), "cycles", 1, 32, "in which an m16n8k16 reads its operands"},
  KeySpec{WARPSCOPE_KEY(sm.tensor.hmma_1688.interval_cycles), "cycles", 1, 1000, "between two m16n8k8 on one sub-core"},
  KeySpec{WARPSCOPE_KEY(sm.tensor.hmma_1688.latency_cycles), "cycles", 1, 1000, "m16n8k8, issue to dependent issue"},
  KeySpec{WARPSCOPE_KEY(sm.tensor.hmma_1688.read_cycles), "cycles", 1, 32, "in which an m16n8k8 reads its operands"},

  KeySpec{WARPSCOPE_KEY(sm.tensor.wgmma.flops_per_clk), "flops/clk", 0, 65536, "of HGMMA on one sub-core; 0: has none"},
  KeySpec{WARPSCOPE_KEY(sm.tensor.wgmma.latency_cycles), "cycles", 0, 1000, "end of an HGMMA on its pipe to the end of a wait for it"},

  KeySpec{WARPSCOPE_KEY(sm.fma.lanes), "lanes", 1, 32, "FP32 lanes of a sub-core"},
  KeySpec{WARPSCOPE_KEY(sm.fma.latency_cycles), "cycles", 1, 1000, "FFMA, issue to dependent issue"},
  KeySpec{WARPSCOPE_KEY(sm.imad.lanes), "lanes", 1, 32, "integer multiply lanes of a sub-core (heavy half of the FMA pipe)"},
  KeySpec{WARPSCOPE_KEY(sm.imad.latency_cycles), "cycles", 1, 1000, "IMAD, issue to dependent issue"},
  KeySpec{WARPSCOPE_KEY(sm.alu.lanes), "lanes", 1, 32, "integer, compare, min/max, pack lanes of a sub-core"},
  KeySpec{WARPSCOPE_KEY(sm.alu.latency_cycles), "cycles", 1, 1000, "FMNMX, issue to dependent issue"},
  KeySpec{WARPSCOPE_KEY(sm.xu.lanes), "lanes", 1, 32, "transcendental lanes of a sub-core"},
  KeySpec{WARPSCOPE_KEY(sm.xu.latency_cycles), "cycles", 1, 1000, "MUFU.EX2, issue to dependent issue"},
  KeySpec{WARPSCOPE_KEY(sm.xu.entry_cycles), "cycles", 0, 1000, "of its latency, until an instruction begins"},

  KeySpec{WARPSCOPE_KEY(sm.mio.queue_entries), "entries", 1, kMostMioEntries, "memory instructions queued per sub-core"},
  KeySpec{WARPSCOPE_KEY(sm.mio.min_interval_cycles), "cycles", 1, 1000, "between two memory instructions of one sub-core"},

  KeySpec{WARPSCOPE_KEY(sm.shared.bytes), "bytes", 1, 16777216, "shared memory of an SM"},
  KeySpec{WARPSCOPE_KEY(sm.shared.bytes_per_cta), "bytes", 1, 16777216, "most shared memory of one CTA"},
  KeySpec{WARPSCOPE_KEY(sm.shared.reserved_bytes_per_cta), "bytes", 0, 1048576, "shared memory the driver takes from every CTA's share"},
  KeySpec{WARPSCOPE_KEY(sm.shared.allocation_bytes), "bytes", 1, 65536, "allocation granularity"},
  KeySpec{WARPSCOPE_KEY(sm.shared.bytes_per_clk), "bytes/clk", 1, 4096, "data path of an SM"},
  KeySpec{WARPSCOPE_KEY(sm.shared.sub_core_bytes_per_clk), "bytes/clk", 1, 4096, "what one sub-core can move"},
  KeySpec{WARPSCOPE_KEY(sm.shared.base_latency_cycles), "cycles", 1, 1000, "latency beyond the transfer itself"},

  KeySpec{WARPSCOPE_KEY(sm.shuffle.interval_cycles), "cycles", 1, 1000, "between two SHFL of one sub-core"},
  KeySpec{WARPSCOPE_KEY(sm.shuffle.latency_cycles), "cycles", 1, 1000, "SHFL, issue to dependent issue"},
  KeySpec{WARPSCOPE_KEY(sm.shuffle.lane_cycles), "cycles", 0, 1000, "later, where the lane is in a register"},

  KeySpec{WARPSCOPE_KEY(sm.barrier.base_cycles), "cycles", 0, 1000, "last arrival to release"},
  KeySpec{WARPSCOPE_KEY(sm.barrier.per_warp_cycles), "cycles", 0, 1000, "between two arrivals"},

  KeySpec{WARPSCOPE_KEY(sm.global.async_copy_lsu_cycles), "cycles", 1, 1000,
          "data path time of one LDGSTS.128 as it leaves"},
  KeySpec{WARPSCOPE_KEY(sm.global.async_copy_fill_cycles), "cycles", 0, 1000,
          "data path time of one LDGSTS.128 as its data arrive"},
  KeySpec{WARPSCOPE_KEY(sm.global.l1_latency_cycles), "cycles", 1, 10000, "load that hits the L1"},
  KeySpec{WARPSCOPE_KEY(sm.global.async_copy_cycles), "cycles", 0, 10000, "arrival of an LDGSTS, beyond that of a load"},
  KeySpec{WARPSCOPE_KEY(sm.global.atomic_cycles), "cycles", 0, 10000, "answer of an atomic operation, beyond that of a load"},
  KeySpec{WARPSCOPE_KEY(sm.global.reduce_interval_cycles), "cycles", 1, 1000, "between two accepted RED of an SM"},
  KeySpec{WARPSCOPE_KEY(sm.global.reduce_sustained_cycles), "cycles", 1, 1000, "between two lines of RED of an SM once the buffer is full"},
  KeySpec{WARPSCOPE_KEY(sm.global.reduce_buffer_entries), "entries", 1, 100000, "RED of one line in flight per SM"},
  KeySpec{WARPSCOPE_KEY(sm.global.reduce_whole_entries), "entries", 1, 100000, "of those, each with room for all lines of its RED"},
  KeySpec{WARPSCOPE_KEY(sm.global.store_buffer_bytes), "bytes", 128, 16777216, "stores in flight per SM before the LSU blocks"},
  KeySpec{WARPSCOPE_KEY(sm.global.store_bytes_per_clk), "bytes/clk", 1, 65536, "that leave an SM; its other requests wait behind them"},

  KeySpec{WARPSCOPE_KEY(sm.bulk.latency_cycles), "cycles", 0, 10000, "of the TMA engine and the mbarrier, beyond the L2; 0: has none"},

  KeySpec{WARPSCOPE_KEY(l2.capacity_bytes), "bytes", 1, 1073741824, "L2 cache"},
  KeySpec{WARPSCOPE_KEY(l2.dirty_bytes), "bytes", 1, 1073741824, "written data that may wait for its way to HBM"},
  KeySpec{WARPSCOPE_KEY(l2.left_dirty_bytes), "bytes", 0, 1073741824, "of these, what a launch on a cold L2 finds there, written before"},
  KeySpec{WARPSCOPE_KEY(l2.ways), "blocks", 1, 256, "of 2 KB in a set; addresses are hashed to sets"},
  KeySpec{WARPSCOPE_KEY(l2.slices), "slices", 1, 512, "each with its part of capacity, stores and HBM"},
  KeySpec{WARPSCOPE_KEY(l2.partitions), "partitions", 1, 8, "L2 partitions; far data is also cached near its reader"},
  KeySpec{WARPSCOPE_KEY(l2.partition_sms), "SMs", 1, 1024, "that get CTAs one after the other and lie at one partition"},
  KeySpec{WARPSCOPE_KEY(l2.hit_latency_cycles), "cycles", 1, 100000, "L2 hit, unloaded, mean over near and far slices"},
  KeySpec{WARPSCOPE_KEY(l2.hit_spread_cycles), "cycles", 0, 100000, "lines come at most so much earlier or later, evenly spread"},
  KeySpec{WARPSCOPE_KEY(l2.bytes_per_clk), "bytes/clk", 1, 1000000, "sustained by all SMs together, reads"},
  KeySpec{WARPSCOPE_KEY(l2.write_bytes_per_clk), "bytes/clk", 1, 1000000, "sustained by all SMs together, writes in whole sectors"},
  KeySpec{WARPSCOPE_KEY(l2.lines_per_clk), "lines/clk", 1, 100000, "128-byte lines looked up, all slices together"},
  KeySpec{WARPSCOPE_KEY(l2.sm_bytes_per_clk), "bytes/clk", 1, 10000, "what one SM alone can draw"},
  KeySpec{WARPSCOPE_KEY(l2.reduce_lanes_per_clk), "lanes/clk", 1, 100000, "fp32 atomic lanes of the whole chip"},
  KeySpec{WARPSCOPE_KEY(l2.reduce_waiting_sectors), "sectors", 1, 10000000, "that HBM is asked for at a time for atomics"},

  KeySpec{WARPSCOPE_KEY(hbm.peak_gb_per_s), "GB/s", 10, 100000, "data-sheet bandwidth"},
  KeySpec{WARPSCOPE_KEY(hbm.latency_ns), "ns", 0, 100000, "L2 miss, unloaded, beyond L2 hit latency and page wait"},
  KeySpec{WARPSCOPE_KEY(hbm.page_bytes), "bytes", 32, 65536, "row of a pseudo-channel; pages of a burst wait independently"},
  KeySpec{WARPSCOPE_KEY(hbm.page_wait_ns), "ns", 0, 100000, "mean wait for one page of an idle memory"},
  KeySpec{WARPSCOPE_KEY(hbm.read_efficiency), "of peak", 0.1, 1, "sustained, reads only"},
  KeySpec{WARPSCOPE_KEY(hbm.write_efficiency), "of peak", 0.1, 1, "sustained, writes only"},
  KeySpec{WARPSCOPE_KEY(hbm.mixed_efficiency), "of peak", 0.1, 1, "sustained, equal reads and writes"},
  KeySpec{WARPSCOPE_KEY(hbm.write_batch_bytes), "bytes", 1, 16777216, "written by the channel of a slice at once, ahead of reads"},

  KeySpec{WARPSCOPE_KEY(launch.overhead_us), "us", 0, 10000, "launch of a kernel behind another in a stream"},
  KeySpec{WARPSCOPE_KEY(launch.boundary_cycles), "cycles", 0, 1000000, "start and drain of a launch around its CTAs"},
  KeySpec{WARPSCOPE_KEY(launch.burst_cta_per_clk), "CTAs/clk", 0.001, 1000, "CTA dispatch rate into an empty chip"},
  KeySpec{WARPSCOPE_KEY(launch.cta_per_ns), "CTAs/ns", 0.001, 1000, "CTA dispatch rate of the whole chip"},
  KeySpec{WARPSCOPE_KEY(launch.first_tpcs), "TPCs", 0, 1024, "that get two of the CTAs left over when all SMs have the same"},

  KeySpec{WARPSCOPE_KEY(power.limit_w), "W", 0, 100000, "board power kept over seconds by lowering the SM clock; 0: not known"},
  KeySpec{WARPSCOPE_KEY(power.static_w), "W", 0, 100000, "board with running clocks, SMs asleep"},
  KeySpec{WARPSCOPE_KEY(power.voltage_slope), "of voltage per of clock", 0, 10, "at the highest clock"},
  KeySpec{WARPSCOPE_KEY(power.voltage_floor), "of voltage", 0.1, 1, "lowest voltage, of that at the highest clock"},
  KeySpec{WARPSCOPE_KEY(power.energy.hmma_16816_pj), "pJ", 0, 1e6, "m16n8k16"},
  KeySpec{WARPSCOPE_KEY(power.energy.hmma_1688_pj), "pJ", 0, 1e6, "m16n8k8"},
  KeySpec{WARPSCOPE_KEY(power.energy.wgmma_pj_per_flop), "pJ/FLOP", 0, 1e6, "HGMMA, its operands in shared memory included"},
  KeySpec{WARPSCOPE_KEY(power.energy.ffma_pj), "pJ", 0, 1e6, "FFMA, HFMA2"},
  KeySpec{WARPSCOPE_KEY(power.energy.fmul_pj), "pJ", 0, 1e6, "FMUL, FADD and the rest of the FMA pipe"},
  KeySpec{WARPSCOPE_KEY(power.energy.imad_pj), "pJ", 0, 1e6, "IMAD"},
  KeySpec{WARPSCOPE_KEY(power.energy.alu_pj), "pJ", 0, 1e6, "integer, compare, min/max, pack"},
  KeySpec{WARPSCOPE_KEY(power.energy.xu_pj), "pJ", 0, 1e6, "MUFU"},
  KeySpec{WARPSCOPE_KEY(power.energy.shuffle_pj), "pJ", 0, 1e6, "SHFL"},
  KeySpec{WARPSCOPE_KEY(power.energy.shared_load_pj), "pJ", 0, 1e6, "LDS, LDSM, beyond their wavefronts"},
  KeySpec{WARPSCOPE_KEY(power.energy.shared_store_pj), "pJ", 0, 1e6, "STS, beyond its wavefronts"},
  KeySpec{WARPSCOPE_KEY(power.energy.shared_load_wavefront_pj), "pJ", 0, 1e6, "128 bytes from shared memory"},
  KeySpec{WARPSCOPE_KEY(power.energy.shared_store_wavefront_pj), "pJ", 0, 1e6, "128 bytes to shared memory"},
  KeySpec{WARPSCOPE_KEY(power.energy.local_wavefront_pj), "pJ", 0, 1e6, "128 bytes of register spills in the L1"},
  KeySpec{WARPSCOPE_KEY(power.energy.reduce_pj), "pJ", 0, 1e6, "RED, beyond its bytes"},
  KeySpec{WARPSCOPE_KEY(power.energy.l2_read_pj_per_byte), "pJ/B", 0, 1e6, "from the L2 to an SM"},
  KeySpec{WARPSCOPE_KEY(power.energy.l2_write_pj_per_byte), "pJ/B", 0, 1e6, "from an SM to the L2"},
  KeySpec{WARPSCOPE_KEY(power.energy.hbm_read_pj_per_byte), "pJ/B", 0, 1e6, "from HBM to the L2"},
  KeySpec{WARPSCOPE_KEY(power.energy.hbm_write_pj_per_byte), "pJ/B", 0, 1e6, "from the L2 to HBM"},
};
// clang-format on
#undef WARPSCOPE_KEY

}  // namespace

std::span<const KeySpec> key_specs() {
  return key_table;
}

const KeySpec* find_key(std::string_view key) {
  const auto* const found = std::ranges::find(key_table, key, &KeySpec::key);
  return found == key_table.end() ? nullptr : &*found;
}

std::string_view nearest_key(std::string_view key) {
  const auto is_inside = [&](const KeySpec& s) {
    return s.key.size() > key.size() && s.key.starts_with(key) && s.key[key.size()] == '.';
  };
  if (const auto* const inside = std::ranges::find_if(key_table, is_inside); inside != key_table.end()) {
    return inside->key;  // a group was taken for a key
  }
  return base::nearest_name(key, key_table, &KeySpec::key);
}

std::string value_text(const KeySpec& spec, const HwConfig& config) {
  // The accessors are written for filling a configuration; nothing is changed here.
  const Field field = spec.field(const_cast<HwConfig&>(config));
  return std::visit([](const auto* value) { return fmt::format("{}", *value); }, field);
}

std::string legal_values(const KeySpec& spec) {
  HwConfig scratch;
  return std::visit(
      [&](auto* value) -> std::string {
        using Value = std::remove_pointer_t<decltype(value)>;
        if constexpr (std::is_same_v<Value, std::string>) {
          return "text";
        } else if constexpr (std::is_integral_v<Value>) {
          return fmt::format("{}..{}", static_cast<std::int64_t>(spec.min),
                             static_cast<std::int64_t>(spec.max));
        } else {
          return fmt::format("{}..{}", spec.min, spec.max);
        }
      },
      spec.field(scratch));
}

}  // namespace warpscope::hw

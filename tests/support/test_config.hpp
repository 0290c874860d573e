// A GPU that does not exist: small, and with a different number for every property, so that an expectation
// which names the wrong one fails.
#pragma once

#include "model/hw/hw_config.hpp"

namespace warpscope::test {

inline hw::Sm test_sm() {
  hw::Sm sm;
  sm.sub_cores = 4;
  sm.max_warps = 64;
  sm.max_ctas = 20;
  sm.max_threads_per_cta = 1024;
  sm.registers = 65536;
  sm.max_registers_per_thread = 255;
  sm.register_allocation_unit = 256;
  sm.issue = {.branch_cycles = 7, .cta_turnaround_cycles = 53, .uniform_latency_cycles = 11};
  sm.operands = {.banks = 2, .window_cycles = 3, .late_cycles = 3};
  // A line holds 256 instructions, so that most programs of tests touch one.
  sm.icache = {.l0_bytes = 32768,
               .l1_bytes = 131072,
               .line_bytes = 4096,
               .l1_fill_cycles = 5,
               .l1_line_cycles = 5,
               .gpu_lines_per_clk = 1000,
               .preloaded_bytes = 131072,
               .l2_fill_cycles = 13,
               .memory_fill_cycles = 13,
               .prefetch_lines = 0};
  sm.tensor.hmma_16816 = {.interval_cycles = 8, .latency_cycles = 33, .read_cycles = 6};
  sm.tensor.hmma_1688 = {.interval_cycles = 4, .latency_cycles = 18, .read_cycles = 4};
  sm.fma = {.lanes = 32, .latency_cycles = 9};
  sm.imad = {.lanes = 16, .latency_cycles = 10};
  sm.alu = {.lanes = 8, .latency_cycles = 12};
  sm.xu = {.lanes = 2, .latency_cycles = 27, .entry_cycles = 5};
  sm.mio = {.queue_entries = 3, .min_interval_cycles = 2};
  sm.shared = {.bytes = 102400,
               .bytes_per_cta = 65536,
               .reserved_bytes_per_cta = 1024,
               .allocation_bytes = 128,
               .bytes_per_clk = 128,
               .sub_core_bytes_per_clk = 64,
               .base_latency_cycles = 20};
  sm.shuffle = {.interval_cycles = 6, .latency_cycles = 23, .lane_cycles = 4};
  sm.barrier = {.base_cycles = 14, .per_warp_cycles = 3};
  sm.global = {.async_copy_lsu_cycles = 5,
               .async_copy_fill_cycles = 0,
               .l1_latency_cycles = 37,
               .async_copy_cycles = 0,
               .atomic_cycles = 40,
               .reduce_interval_cycles = 3,
               .reduce_sustained_cycles = 5,
               .reduce_buffer_entries = 100,
               .reduce_whole_entries = 16,
               .store_buffer_bytes = 4096,
               .store_bytes_per_clk = 128};
  return sm;
}

/// One SM cycle is one nanosecond, unless a launch uses the tensor pipe.
inline hw::HwConfig test_config() {
  hw::HwConfig config;
  config.id = "test-gpu";
  config.gpu = {.name = "test", .compute_capability = "9.0", .sm_count = 3, .memory_bytes = 1 << 30};
  config.clock = {.max_mhz = 1000, .tensor_mhz = 800};
  config.sm = test_sm();
  config.l2 = {.capacity_bytes = 1 << 20,
               .dirty_bytes = 1 << 20,
               .ways = 16,
               .slices = 4,
               .partitions = 2,
               .partition_sms = 1,
               .hit_latency_cycles = 211,
               .bytes_per_clk = 192,
               .write_bytes_per_clk = 192,
               .lines_per_clk = 3,
               .sm_bytes_per_clk = 96,
               .reduce_lanes_per_clk = 425,
               .reduce_waiting_sectors = 1000};
  config.hbm.peak_gb_per_s = 60;
  config.hbm.latency_ns = 151;
  config.hbm.page_bytes = 1024;
  config.hbm.page_wait_ns = 30;
  config.hbm.read_efficiency = 0.9;
  config.hbm.write_efficiency = 0.8;
  config.hbm.mixed_efficiency = 0.7;
  config.hbm.write_batch_bytes = 2048;
  config.launch = {.overhead_us = 2.0, .burst_cta_per_clk = 1, .cta_per_ns = 0.5, .first_tpcs = 4};
  return config;
}

}  // namespace warpscope::test

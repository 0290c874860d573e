// One GPU as data. Every field is a property that a data sheet states or a microbenchmark can measure; the
// files in hwconfigs/ carry unit, source and confidence of each. Key in the file = path of the field
// (sm.xu.lanes).
#pragma once

#include <cstdint>
#include <string>

namespace warpscope::hw {

struct Gpu {
  std::string name;                      ///< marketing name
  std::string compute_capability = "0";  ///< "8.0", "9.0"
  int sm_count = 0;
  std::int64_t memory_bytes = 0;  ///< device memory, all stacks together
};

struct Clock {
  int max_mhz = 0;     ///< SM clock of launches that execute no tensor instruction
  int tensor_mhz = 0;  ///< of launches that do, where power does not limit it
};

/// A pipe that accepts one warp instruction every 32 / lanes cycles.
struct LanePipe {
  int lanes = 0;           ///< lanes per sub-core, 1..32
  int latency_cycles = 0;  ///< issue to dependent issue
};

/// The transcendental pipe, with room for one instruction in front of it.
struct TranscendentalPipe {
  int lanes = 0;
  int latency_cycles = 0;  ///< issue to dependent issue, where it does not wait
  int entry_cycles = 0;    ///< of them until it begins
};

struct TensorShape {
  int interval_cycles = 0;  ///< between two instructions on one sub-core
  int latency_cycles = 0;   ///< issue to dependent issue
  int read_cycles = 0;      ///< in which one reads its operands
};

/// Asynchronous products of four warps.
struct Wgmma {
  int flops_per_clk = 0;   ///< of a sub-core; 0: has none
  int latency_cycles = 0;  ///< from the end of an HGMMA on its pipe to the end of a wait for it
};

struct Tensor {
  TensorShape hmma_16816;
  TensorShape hmma_1688;
  Wgmma wgmma;
};

struct Issue {
  /// A taken branch keeps its warp from issuing for this long, or for its stall count if that is longer;
  /// BSYNC for this long behind its stall count.
  int branch_cycles = 0;
  int cta_turnaround_spread_cycles = 0;  ///< width of the distribution around the turnaround
  int cta_turnaround_cycles = 0;         ///< end of a CTA to first instruction of its successor in the slot
  int uniform_latency_cycles = 0;        ///< latency of the uniform datapath, issue to dependent issue
};

/// How a sub-core reads registers: one of each bank in a cycle.
struct Operands {
  int banks = 0;
  int window_cycles = 0;  ///< FMA and ALU instructions read in so many cycles, or stand
  int late_cycles = 0;    ///< XU and memory instructions read so long after their issue
};

struct InstructionCache {
  int l0_bytes = 0;  ///< instructions that stream at full rate (L0 and L1 together)
  int l1_bytes = 0;  ///< next level, shared by the SM
  int line_bytes = 0;
  int l1_fill_cycles = 0;        ///< from asking the next level for a line to its arrival
  int l1_line_cycles = 0;        ///< between two lines from it, for all sub-cores at once
  double gpu_lines_per_clk = 0;  ///< from it to all SMs together; the two of a TPC share a line
  int preloaded_bytes = 0;       ///< of the beginning of a launch's code, in the next level when it begins
  int l2_fill_cycles = 0;        ///< between two lines from the L2
  int memory_fill_cycles = 0;    ///< between two lines that no SM has asked for yet
  int prefetch_lines = 0;        ///< lines that the prefetcher runs ahead of a warp
};

/// Parameters of a launch, in lines of 64 bytes. LDC and operands go through caches of their own.
struct ConstantCache {
  int latency_cycles = 0;     ///< LDC to dependent issue where the line is held
  int miss_cycles = 0;        ///< more where the SM reads a line for the first time in a launch
  int first_miss_cycles = 0;  ///< the same, of the launch's first line
};

struct Mio {
  int queue_entries = 0;        ///< per sub-core; a full queue stalls issue (mio_throttle)
  int min_interval_cycles = 0;  ///< between two memory instructions of one sub-core
};

struct SharedMemory {
  int bytes = 0;                   ///< per SM, for CTAs
  int bytes_per_cta = 0;           ///< most that one CTA may ask for
  int reserved_bytes_per_cta = 0;  ///< taken by the driver
  int allocation_bytes = 0;        ///< granularity
  int bytes_per_clk = 0;           ///< data path of the SM
  int sub_core_bytes_per_clk = 0;  ///< what one sub-core can move
  int base_latency_cycles = 0;     ///< plus bytes / sub_core_bytes_per_clk
};

struct Shuffle {
  int interval_cycles = 0;  ///< per sub-core
  int latency_cycles = 0;
  int lane_cycles = 0;  ///< so much later where the lane is in a register
};

struct Barrier {
  int base_cycles = 0;      ///< last arrival to release
  int per_warp_cycles = 0;  ///< arrivals are serialised
};

struct GlobalAccess {
  int async_copy_lsu_cycles = 0;    ///< data-path cycles of one LDGSTS.128 as it leaves,
  int async_copy_fill_cycles = 0;   ///< and as its data arrive
  int l1_latency_cycles = 0;        ///< load that hits L1 (register spills)
  int async_copy_cycles = 0;        ///< an LDGSTS's arrival, beyond that of a load
  int atomic_cycles = 0;            ///< an atomic operation's answer, beyond that of a load
  int reduce_interval_cycles = 0;   ///< accepted RED instructions, per SM
  int reduce_sustained_cycles = 0;  ///< per line of RED once the buffer is full
  int reduce_buffer_entries = 0;    ///< RED of one line in flight
  int reduce_whole_entries = 0;     ///< of those, each with room for all lines of its RED
  int store_buffer_bytes = 0;       ///< stores in flight per SM before the LSU blocks
  int store_bytes_per_clk = 0;      ///< of an SM's stores, behind which its other requests wait
};

/// Copies of whole boxes, which one thread starts (TMA).
struct Bulk {
  int latency_cycles = 0;  ///< of the engine and the mbarrier, beyond that of the L2; 0: has none
};

struct Sm {
  int sub_cores = 0;
  int max_warps = 0;
  int max_ctas = 0;
  int max_threads_per_cta = 0;
  int registers = 0;  ///< 32-bit registers per SM
  int max_registers_per_thread = 0;
  int register_allocation_unit = 0;  ///< registers per warp are rounded up to this
  Issue issue;
  Operands operands;
  InstructionCache icache;
  ConstantCache constant;
  Tensor tensor;
  LanePipe fma;
  LanePipe imad;  ///< heavy half of the FMA pipe
  LanePipe alu;
  TranscendentalPipe xu;
  Mio mio;
  SharedMemory shared;
  Shuffle shuffle;
  Barrier barrier;
  GlobalAccess global;
  Bulk bulk;
};

struct L2 {
  std::int64_t capacity_bytes = 0;
  std::int64_t dirty_bytes = 0;  ///< what may wait to be written to HBM
  /// Of this, what a launch that starts on a cold L2 finds there: written by what ran before.
  std::int64_t left_dirty_bytes = 0;
  int ways = 0;                 ///< blocks of 2 KB whose addresses hash alike and that fit at the same time
  int slices = 0;               ///< each with a part of the capacity, of stores and of HBM
  int partitions = 0;           ///< each keeps copies of the data it passes on, also of data homed in another
  int partition_sms = 0;        ///< so many SMs that get CTAs one after the other lie at one partition
  int hit_latency_cycles = 0;   ///< mean over near and far slices, unloaded, SM to SM
  int hit_spread_cycles = 0;    ///< lines come at most so much earlier or later, evenly spread
  int bytes_per_clk = 0;        ///< sustained by all SMs together, reads
  int write_bytes_per_clk = 0;  ///< the same of writes, in whole sectors
  int lines_per_clk = 0;        ///< 128-byte lines that all slices together look up per SM clock
  int sm_bytes_per_clk = 0;     ///< what one SM alone can draw
  int reduce_lanes_per_clk = 0;    ///< fp32 atomic lanes per SM clock, whole chip
  int reduce_waiting_sectors = 0;  ///< that HBM may be asked for at a time for fp32 atomics, whole chip
};

struct Hbm {
  double peak_gb_per_s = 0;     ///< data-sheet bandwidth, 1e9 bytes per second
  double latency_ns = 0;        ///< L2 miss, unloaded, beyond the L2 hit latency and the wait for a page
  int page_bytes = 0;           ///< row of a pseudo-channel; pages of a burst wait independently
  double page_wait_ns = 0;      ///< mean wait for one page of an idle memory
  double read_efficiency = 0;   ///< sustained fraction of peak, reads only (refresh, row misses)
  double write_efficiency = 0;  ///< sustained fraction of peak, writes only
  double mixed_efficiency = 0;  ///< sustained fraction of peak, equal reads and writes (bus turnaround)
  std::int64_t write_batch_bytes = 0;  ///< written by a slice's channel at once, ahead of reads
};

struct LaunchCosts {
  int boundary_cycles = 0;       ///< before the first CTA and behind the last store, inside the launch's time
  double overhead_us = 0;        ///< launch of a kernel behind another in a stream
  double burst_cta_per_clk = 0;  ///< dispatch rate into an empty chip, until its slots are full
  double cta_per_ns = 0;         ///< dispatch rate of the whole chip, sustained
  int first_tpcs = 0;            ///< that get two of the CTAs left over when all SMs have the same
};

/// What one warp instruction, one wavefront of 128 bytes or one byte takes, on data as attention has it
/// (normally distributed) and at the voltage of the highest clock. In pJ; all 0 where nothing is known.
struct Energy {
  double hmma_16816_pj = 0;
  double hmma_1688_pj = 0;
  double wgmma_pj_per_flop = 0;  ///< of HGMMA, operands in shared memory included
  double ffma_pj = 0;            ///< with three register operands: FFMA, HFMA2
  double fmul_pj = 0;            ///< other instructions of the FMA pipe
  double imad_pj = 0;
  double alu_pj = 0;
  double xu_pj = 0;
  double shuffle_pj = 0;
  double shared_load_pj = 0;   ///< beyond its wavefronts
  double shared_store_pj = 0;  ///< beyond its wavefronts
  double shared_load_wavefront_pj = 0;
  double shared_store_wavefront_pj = 0;
  double local_wavefront_pj = 0;   ///< of register spills, in the L1
  double reduce_pj = 0;            ///< beyond its bytes
  double l2_read_pj_per_byte = 0;  ///< from the L2 to an SM
  double l2_write_pj_per_byte = 0;
  double hbm_read_pj_per_byte = 0;  ///< from HBM to the L2
  double hbm_write_pj_per_byte = 0;
};

struct Power {
  double limit_w = 0;        ///< that the board keeps over seconds by lowering the SM clock; 0: not known
  double static_w = 0;       ///< of the board with running clocks, SMs asleep
  double voltage_slope = 0;  ///< relative change of the voltage over that of the clock, at the highest clock
  double voltage_floor = 0;  ///< lowest voltage, as part of that at the highest clock
  Energy energy;
};

struct HwConfig {
  std::string id;  ///< file name without .toml
  Gpu gpu;
  Clock clock;
  Sm sm;
  L2 l2;
  Hbm hbm;
  LaunchCosts launch;
  Power power;
};

}  // namespace warpscope::hw

// The metrics of JSON outputs, under Nsight Compute's names where it has one.
#include <array>

#include "experiments/explain/glossary.hpp"

namespace warpscope::experiments {
namespace {

constexpr std::array kEntries = {
    GlossaryEntry{
        "dram__bytes_read.sum", "dram__bytes_write.sum|model_dram_read_bytes|model_dram_write_bytes",
        "Bytes that HBM read and wrote during the launch. Lines that are still dirty in the L2 at its "
        "end have not been written. Misses in the L2 raise them."},
    GlossaryEntry{
        "lts__t_sectors_op_read.sum", "lts__t_sectors_op_write.sum",
        "Sectors of 32 bytes that SMs read from and wrote to the L2. Reading K and V once per tile of "
        "queries makes most of them; larger tiles need fewer."},
    GlossaryEntry{
        "lts__t_sectors_srcunit_tex_lookup_hit.sum", "",
        "Sectors that SMs asked for and the L2 had. Over lts__t_sectors_op_read.sum it is the rate of "
        "hits."},
    GlossaryEntry{
        "sm__inst_executed.sum", "warp instructions|instructions",
        "Warp instructions of all SMs. Each takes an issue slot, whatever it does; per score it tells "
        "how lean a kernel is. Fast mode takes it from the programs."},
    GlossaryEntry{"sm__inst_executed_pipe_tensor.sum",
                  "sm__inst_executed_pipe_tensor_op_hmma.sum|sm__inst_executed_pipe_tensor_op_gmma.sum",
                  "Warp instructions of the tensor pipe. The problem and the padding of tiles decide their "
                  "number; two kernels for the same problem differ little."},
    GlossaryEntry{
        "sm__inst_executed_pipe_fma.sum", "",
        "Warp instructions of the FMA pipe: scaling, row sums, rescaling, and integer multiply-adds. "
        "See FMA pipe."},
    GlossaryEntry{"sm__inst_executed_pipe_alu.sum", "",
                  "Warp instructions of the ALU pipe: maxima, masks, packing, addresses. See ALU pipe."},
    GlossaryEntry{"sm__inst_executed_pipe_xu.sum", "",
                  "Warp instructions of the XU pipe, nearly all of them exponentials. See XU pipe."},
    GlossaryEntry{"sm__inst_executed_pipe_lsu.sum", "",
                  "Warp instructions that go to memory, shared or global, and shuffles. See LSU pipe."},
    GlossaryEntry{"sm__inst_executed_pipe_uniform.sum", "",
                  "Warp instructions of the uniform pipe, mostly addresses and loop counts. They cost issue "
                  "slots."},
    GlossaryEntry{
        "smsp__inst_executed_op_ldsm.sum", "",
        "LDSM instructions: matrix operands from shared memory. Keeping Q in registers, or more rows "
        "per warp, saves some."},
    GlossaryEntry{
        "smsp__inst_executed_op_ldgsts.sum", "",
        "LDGSTS instructions: copies from global to shared memory without registers (cp.async). FA1 "
        "has none."},
    GlossaryEntry{"smsp__inst_executed_op_shared_ld.sum", "smsp__inst_executed_op_shared_st.sum",
                  "Loads (without LDSM) and stores of shared memory. Exchange between warps, as in sliced-K, "
                  "makes most of them."},
    GlossaryEntry{"smsp__inst_executed_op_local_ld.sum", "smsp__inst_executed_op_local_st.sum",
                  "Loads and stores of spilled registers. A kernel whose values fit the registers has none."},
    GlossaryEntry{"smsp__inst_executed_op_global_ld.sum",
                  "smsp__inst_executed_op_global_st.sum|smsp__inst_executed_op_global_red.sum",
                  "Loads, stores and atomic additions of global memory through registers. Their bytes matter "
                  "more than their number."},
    GlossaryEntry{
        "smsp__inst_executed_op_branch.sum", "",
        "Branches, mostly the ends of loops. Each costs cycles of its warp; unrolling lowers them."},
    GlossaryEntry{"l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
                  "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum|"
                  "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
                  "Passes through the data path of shared memory, of loads and of stores. Bank conflicts and "
                  "tiles that every warp reads raise them. See wavefront."},
    GlossaryEntry{"l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_active", "",
                  "Per cent of the cycles in which an SM had work that its shared data path was in use. See "
                  "shared data path."},
    GlossaryEntry{
        "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active", "",
        "Per cent of the cycles in which an SM had work that its tensor pipes were busy. Unlike the "
        "share in the report it leaves out SMs without work."},
    GlossaryEntry{"sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active",
                  "sm__pipe_alu_cycles_active.avg.pct_of_peak_sustained_active|"
                  "sm__pipe_xu_cycles_active.avg.pct_of_peak_sustained_active",
                  "Per cent of the cycles in which an SM had work that its FMA, ALU or XU pipes were taken. "
                  "See FMA pipe, ALU pipe, XU pipe."},
    GlossaryEntry{
        "smsp__issue_active.avg.pct_of_peak_sustained_active", "",
        "Per cent of the cycles in which an SM had work that a sub-core issued. Near 100 the number of "
        "instructions is the limit."},
    GlossaryEntry{"sm__cycles_elapsed.max", "",
                  "Cycles of the launch. The other counts per cycle are held against it or against "
                  "sm__cycles_active.avg."},
    GlossaryEntry{"sm__cycles_active.avg", "",
                  "Cycles in which an SM held at least one CTA, mean over the SMs. Well below "
                  "sm__cycles_elapsed.max there are too few CTAs, or a tail."},
    GlossaryEntry{"sm__warps_active.avg.per_cycle_active", "",
                  "Warps that an SM held, mean over the cycles in which it had work. See occupancy."},
    GlossaryEntry{
        "launch__grid_size", "launch__block_size",
        "CTAs of the launch, and threads of each. The grid should be several waves, or exactly one."},
    GlossaryEntry{"launch__registers_per_thread", "launch__shared_mem_per_block_dynamic",
                  "Registers of a thread and bytes of shared memory of a CTA, which limit the occupancy. "
                  "Larger tiles need more of both."},
    GlossaryEntry{
        "launch__occupancy_limit_registers",
        "launch__occupancy_limit_shared_mem|launch__occupancy_limit_warps|"
        "launch__occupancy_limit_blocks",
        "CTAs that would fit an SM if only registers, shared memory, warp slots or CTA slots counted. "
        "The smallest of the four is the occupancy."},
    GlossaryEntry{"launch__waves_per_multiprocessor", "",
                  "CTAs over those that fit all SMs at the same time. See wave."},
    GlossaryEntry{"model_time_us", "model_cycles|model_tflops|model_error",
                  "Columns that sweep and run --csv add: time, cycles and TFLOP/s. A row without them has "
                  "the reason in model_error."},
};

}  // namespace

std::span<const GlossaryEntry> metric_entries() {
  return kEntries;
}

}  // namespace warpscope::experiments

// Words about GPUs in general.
#include <array>

#include "experiments/explain/glossary.hpp"

namespace warpscope::experiments {
namespace {

constexpr std::array kEntries = {
    GlossaryEntry{
        "SM", "streaming multiprocessor|multiprocessor",
        "One of the GPU's 108 to 132 processors, with four sub-cores, shared memory and registers. A "
        "CTA runs on one SM from start to end; SMs without a CTA are idle."},
    GlossaryEntry{"sub-core", "SMSP",
                  "A quarter of an SM with a scheduler, pipes and registers of its own. A warp stays on its "
                  "sub-core, so a CTA wants a multiple of four warps."},
    GlossaryEntry{
        "CTA", "thread block|grid",
        "The warps that share a tile of shared memory and can meet at barriers. CTAs start in order "
        "as SMs have room; the number of CTAs decides how well the SMs are filled."},
    GlossaryEntry{
        "warp", "",
        "32 threads that execute one instruction at a time. A sub-core switches between its warps in "
        "every cycle, and needs several to have one ready."},
    GlossaryEntry{
        "wave", "waves",
        "As many CTAs as fit all SMs at the same time. The last wave is rarely full, and SMs without "
        "a CTA wait for its end: 1.1 waves take about as long as 2. Other tile sizes or more splits "
        "change the number."},
    GlossaryEntry{
        "tail", "tail effect",
        "The end of a launch, when some SMs have no work left. Few or unequal CTAs lengthen it, as in "
        "causal attention. Start the longest CTAs first, or use smaller ones."},
    GlossaryEntry{
        "occupancy", "CTAs/SM|CTAs per SM",
        "Warps that an SM holds over the most it could hold. Registers, shared memory, warp slots or "
        "CTA slots limit it; the report says which. More warps cover more waiting, but smaller tiles "
        "cost more reads: the best occupancy is seldom the highest."},
    GlossaryEntry{
        "wavefront", "wavefronts",
        "A pass of up to 128 bytes through the data path of shared memory. An access needs as many as "
        "its bytes, and more with bank conflicts. Wide accesses without conflicts need the fewest."},
    GlossaryEntry{"bank conflict", "bank conflicts|swizzle",
                  "Lanes of a warp that want different rows of the same bank of shared memory are served one "
                  "after the other. A swizzled layout of tiles avoids it."},
    GlossaryEntry{
        "sector", "sectors",
        "32 bytes, the unit in which the L2 and HBM move data. An access that uses part of a sector "
        "moves all of it, so neighbouring lanes should read neighbouring bytes."},
    GlossaryEntry{
        "cp.async", "LDGSTS|asynchronous copy",
        "A copy from global to shared memory that needs no registers and that the warp does not wait "
        "for. Issued a tile ahead, it hides the latency of memory behind arithmetic."},
    GlossaryEntry{
        "spill", "register spill|LDL|STL",
        "A value that has no register and goes to local memory and back. Tiles that are too large for "
        "the registers of a thread cause it. Smaller tiles, or more warps per tile, avoid it."},
    GlossaryEntry{
        "mma.sync", "wgmma",
        "The tensor instruction of a warp (HMMA). Hopper also has wgmma, which a group of four warps "
        "issues and which reaches more of the peak; FA2 does not use it, products of matrices on Hopper "
        "do."},
    GlossaryEntry{"cold L2", "warm L2",
                  "Each launch starts with an empty L2, as Nsight Compute measures. --l2 warm keeps what the "
                  "launch before left in it, as when kernels run back to back."},
    GlossaryEntry{"control bits", "stall count",
                  "What the compiler writes beside an instruction: how many cycles the warp waits before the "
                  "next one, and which scoreboards it sets or waits for. The hardware obeys them."},
};

}  // namespace

std::span<const GlossaryEntry> gpu_entries() {
  return kEntries;
}

}  // namespace warpscope::experiments

// What the report calls busy: pipes, issue slots, data paths and memories.
#include <array>

#include "experiments/explain/glossary.hpp"

namespace warpscope::experiments {
namespace {

constexpr std::array kEntries = {
    GlossaryEntry{
        "tensor pipe", "tensor|HMMA|tensor core",
        "The unit of a sub-core that multiplies small matrices (HMMA, mma.sync). Nearly all of the "
        "FLOPs that attention is credited with are done here, so it should be the busiest. What keeps "
        "it from that is work on other pipes that it has to wait for: fewer non-matmul instructions "
        "and more warps in different phases raise its share."},
    GlossaryEntry{
        "FMA pipe", "fma",
        "Multiplies and adds FP32 numbers (FFMA, FMUL, FADD) and integers (IMAD). In attention it "
        "scales scores, sums rows and rescales O. Normalising once at the end and fused multiply-adds "
        "take work from it."},
    GlossaryEntry{
        "ALU pipe", "alu",
        "Integer, logic, compare and select, minimum and maximum (FMNMX), and packing to 16 bits "
        "(F2FP). Row maxima, masks and addresses go here. Mask only the blocks that the mask cuts, and "
        "compute addresses once."},
    GlossaryEntry{
        "XU pipe", "xu|MUFU|SFU|exponential unit",
        "Exponentials, reciprocals and logarithms (MUFU), at few lanes per sub-core. Softmax needs one "
        "exponential for each score, which no rearrangement of attention avoids. Overlapping it with "
        "the matrix products of another warp hides it."},
    GlossaryEntry{
        "LSU pipe", "lsu|MIO|load-store unit",
        "The queue through which shared and global memory, shuffles and copies leave a sub-core. One "
        "instruction enters every few cycles, and all sub-cores share the data path behind it. Wide "
        "accesses and operands that stay in registers take load from it."},
    GlossaryEntry{
        "uniform pipe", "uniform",
        "Computes what is equal for all lanes of a warp, mostly addresses and loop counts, once for "
        "the warp. It is rarely a limit."},
    GlossaryEntry{"control", "control pipe",
                  "Branches, barriers, waits and other instructions without a pipe of their own. They cost "
                  "issue slots. What they wait for is counted under the stall reason."},
    GlossaryEntry{
        "issue slots", "issue slot|issue",
        "Each sub-core issues at most one warp instruction per cycle. A high share means that the "
        "number of instructions is the limit, whatever they do. Fewer address computations, moves and "
        "spills, or wider instructions, lower it."},
    GlossaryEntry{"shared data path", "data path|shared memory|shared memory data path",
                  "The 128 bytes per cycle that all sub-cores of an SM share for shared memory, shuffles and "
                  "what passes to and from global memory. Reading the same tile in every warp, sliced-K "
                  "reductions and bank conflicts raise its share. A high share alone is no proof of a limit: "
                  "run --why says what more bandwidth would gain."},
    GlossaryEntry{
        "L2", "L2 cache",
        "The cache that all SMs share between them and HBM. Its share is the bandwidth that SMs draw; "
        "K and V are read from it once per tile of queries. Larger tiles and CTAs that work on the "
        "same head at the same time lower it."},
    GlossaryEntry{
        "HBM", "DRAM|device memory",
        "The GPU's memory, held against the bandwidth of the data sheet. Bytes beyond the compulsory "
        "ones raise it: scores or partial results that are written out, and K and V that have left the "
        "L2 before they are read again. Keep intermediate results on the SM."},
    GlossaryEntry{
        "latency", "limited by latency",
        "The limiter's name where no resource is busy 60 % of the time: warps wait for results, one "
        "another or work. Few CTAs, long dependent chains, barriers and cold caches cause it. More or "
        "smaller CTAs, copies further ahead and more warps per SM help."},
};

}  // namespace

std::span<const GlossaryEntry> unit_entries() {
  return kEntries;
}

}  // namespace warpscope::experiments

// The resources that `run --why` makes better in turn.
#include <array>

#include "experiments/explain/glossary.hpp"

namespace warpscope::experiments {
namespace {

constexpr std::array kEntries = {
    GlossaryEntry{
        "tensor rate", "",
        "How fast the tensor pipe takes one HMMA after another. A kernel that gains by it spends its "
        "time in matrix products, which is the best place to spend it. Only a faster instruction or a "
        "higher clock helps then."},
    GlossaryEntry{
        "register banks", "",
        "A sub-core reads one register of each bank in a cycle, and an HMMA needs most of these reads. "
        "Gaining by more banks means that other instructions wait for their operands. Fewer of them beside "
        "the HMMAs help as much."},
    GlossaryEntry{
        "XU lanes (MUFU)", "XU lanes|MUFU rate",
        "Exponentials per cycle. A kernel gains by them where its exponentials are not hidden behind "
        "matrix products. Two groups of warps in opposite phases hide them."},
    GlossaryEntry{"FMA lanes", "",
                  "FP32 and integer multiply-adds per cycle. Gaining by them means that scaling, summing and "
                  "rescaling take time. Normalise once at the end, and fuse multiplies with adds."},
    GlossaryEntry{
        "ALU lanes", "",
        "Comparisons, maxima, packings and integer operations per cycle. Gaining by them means that "
        "masks, row maxima or addresses take time. Mask fewer blocks."},
    GlossaryEntry{
        "memory issue (MIO)", "memory issue|MIO rate",
        "How often a sub-core may send an instruction to memory. Gaining by it means that there are "
        "many such instructions, not many bytes. Use wider ones."},
    GlossaryEntry{
        "shared memory bandwidth", "",
        "Bytes per cycle between shared memory and registers. Gaining by it means that tiles are read "
        "more often than needed. Give each warp more rows, keep Q in registers, avoid bank conflicts."},
    GlossaryEntry{"shared memory latency", "",
                  "The time until a load from shared memory returns. Gaining by it means that operands are "
                  "loaded shortly before their use. Load them one step ahead."},
    GlossaryEntry{
        "registers", "register file",
        "Registers per SM, which decide how many warps fit. Gaining by them means that more warps "
        "would cover waiting. Smaller tiles, or fewer values that live at the same time, have the same "
        "effect."},
    GlossaryEntry{
        "shared memory size", "shared memory capacity",
        "Bytes of shared memory per SM, which decide how many CTAs fit; the tile of a CTA stays as it "
        "is. Gaining by it means that one more CTA would cover waiting. Smaller tiles or fewer stages "
        "make room too."},
    GlossaryEntry{"branches", "",
                  "The cycles that a taken branch costs. Gaining by them means short loops. Unroll."},
    GlossaryEntry{"L2 bandwidth", "",
                  "Bytes and lines per cycle that the L2 delivers. Gaining by it means that K and V are read "
                  "from it too often. Larger tiles of queries read them less often."},
    GlossaryEntry{
        "L2 latency", "",
        "The time until data that is in the L2 arrives. Gaining by it means that copies are not far "
        "enough ahead. Use one more stage."},
    GlossaryEntry{"L2 capacity", "L2 size",
                  "Bytes of the L2. Gaining by it means that tensors leave it before they are read again. "
                  "Process heads one after another, or keep intermediate results smaller."},
    GlossaryEntry{
        "HBM bandwidth", "memory bandwidth",
        "Bytes per second of the GPU's memory. Gaining by it means that the bytes are the limit, as "
        "for standard attention. Move fewer of them: do not write scores, or fuse kernels."},
    GlossaryEntry{
        "HBM latency", "memory latency",
        "The time until data from HBM arrives, without a queue. Gaining by it means too few bytes in "
        "flight, or a kernel so short that first accesses matter. Copy further ahead."},
    GlossaryEntry{
        "power limit", "",
        "The power that the board keeps over seconds by lowering its clock. Gaining by it means that the "
        "clock is lowered. Fewer instructions and fewer bytes per score help, also where they hide no "
        "latency."},
    GlossaryEntry{"SMs", "",
                  "The number of multiprocessors, each with all of its parts, so it names no single limit. A "
                  "kernel that does not gain by it has too few CTAs or a limit outside the SMs."},
};

}  // namespace

std::span<const GlossaryEntry> resource_entries() {
  return kEntries;
}

}  // namespace warpscope::experiments

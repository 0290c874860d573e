// Why a warp that is on an SM does not issue in a cycle, under Nsight Compute's names.
#include <array>

#include "experiments/explain/glossary.hpp"

namespace warpscope::experiments {
namespace {

constexpr std::array kEntries = {
    GlossaryEntry{"selected", "",
                  "The warp issued an instruction in this cycle, so this is no stall. Per issue it is 1 by "
                  "definition, and its share of the warp cycles grows as warps wait less."},
    GlossaryEntry{
        "wait", "fixed latency",
        "The warp waits for a number of cycles that the compiler wrote beside its last instruction, "
        "because the pipe or a dependent instruction needs them. Chains of dependent arithmetic and "
        "tensor instructions back to back raise it. Independent instructions between them, or more "
        "warps, cover it."},
    GlossaryEntry{
        "long_scoreboard", "",
        "The warp waits for data from beyond the SM: a global load, or copies that DEPBAR waits for. "
        "Loads that are issued shortly before they are used raise it, and so do misses in the L2. "
        "Copy earlier (cp.async one tile ahead), hold more bytes in flight, or have more warps."},
    GlossaryEntry{
        "short_scoreboard", "",
        "The warp waits for a result inside the SM that takes a varying time: shared memory (LDS, "
        "LDSM), shuffles, or the XU pipe (MUFU). Bank conflicts and bursts of exponentials raise it. "
        "Load operands one step earlier, lay tiles out without conflicts, or ask for fewer of them."},
    GlossaryEntry{
        "barrier", "",
        "The warp stands at BAR.SYNC until all warps of its CTA are there. Warps with unequal work, "
        "many barriers per iteration and a single CTA per SM raise it. Let each warp own its rows "
        "(split-Q), so that nothing has to be exchanged, or have a second CTA to run meanwhile."},
    GlossaryEntry{
        "math_pipe_throttle", "",
        "The warp could issue, but the arithmetic pipe that it needs is still busy with an earlier "
        "instruction. It is high where the pipe is the limit, as it should be for the tensor pipe; on "
        "another pipe it says that too much of that work is done. Do less of it, or spread it in time "
        "so that pipes work side by side."},
    GlossaryEntry{
        "mio_throttle", "",
        "The warp could issue, but the queue of memory instructions (shared and global memory, "
        "shuffles, copies) is full. Many narrow accesses and bank conflicts raise it. Use wide ones "
        "(LDSM.x4, 128-bit), keep operands in registers, or place such instructions among arithmetic."},
    GlossaryEntry{
        "lg_throttle", "",
        "Nsight Compute's name for a full queue of global and local memory instructions. The model has "
        "one queue for all memory instructions and counts such cycles as mio_throttle, so this is "
        "always 0 here."},
    GlossaryEntry{
        "dispatch_stall", "",
        "The warp could issue, but an instruction of another warp of its sub-core stands at the register "
        "ports: an HMMA whose operands others put off, or arithmetic right behind an HMMA. The warp whose "
        "instruction stands there counts it as wait. Fewer instructions between HMMAs lower it."},
    GlossaryEntry{
        "not_selected", "",
        "The warp could issue, but the sub-core chose another one; it issues one instruction per "
        "cycle. High values mean that there are more ready warps than needed, which is good, or that "
        "issue slots are the limit. In the second case only fewer instructions help."},
    GlossaryEntry{
        "no_instruction", "",
        "The warp's next instruction has not been fetched yet. Code that does not fit the instruction "
        "caches, jumps, and kernels so short that they fetch most lines for the first time raise it. "
        "Unroll less, or let warps run the same code at the same time."},
    GlossaryEntry{"imc_miss", "",
                  "The warp's next instruction has a parameter of the launch as its operand, and no warp of "
                  "this SM has read "
                  "that line of parameters before. It happens once for each line and launch."},
    GlossaryEntry{"branch_resolving", "",
                  "The warp waits for the target of a branch it took. Short loops raise it. Unrolling a loop "
                  "gives it fewer branches."},
    GlossaryEntry{
        "drain", "",
        "The warp is at its end and waits until its last stores have left the queue. Many stores at "
        "the end of a CTA raise it. Wide stores, or work of another CTA, cover it."},
};

}  // namespace

std::span<const GlossaryEntry> stall_entries() {
  return kEntries;
}

}  // namespace warpscope::experiments

// Words and units of the text reports.
#include <array>

#include "experiments/explain/glossary.hpp"

namespace warpscope::experiments {
namespace {

constexpr std::array kEntries = {
    GlossaryEntry{
        "time", "us|microseconds",
        "From the first CTA of a launch to its last stored byte, and the gaps between launches where "
        "there are several. It is the number of cycles over the SM clock."},
    GlossaryEntry{
        "cycles", "clock cycles",
        "Cycles of the SM clock. Fast mode simulates part of them; the ± behind them is two standard "
        "deviations against --mode detailed, which runs all of them. It says nothing about real GPUs: "
        "`warpscope validate` does."},
    GlossaryEntry{
        "power", "watts",
        "Mean power of the board where the launches are repeated back to back for seconds on normally "
        "distributed data: what runs while idle, and an energy for each instruction and byte. Beyond the "
        "board's limit the clock falls, and the voltage with it, until power is at the limit; cycles stay. "
        "A single launch on a cool board runs at the clock without limit."},
    GlossaryEntry{
        "TFLOP/s", "FLOPs",
        "10^12 floating-point operations per second, counted as papers do: 4 x batch x heads x queries "
        "x keys x head dimension, half of it for causal, over the time. What the kernel does beyond "
        "that, like softmax, is not credited."},
    GlossaryEntry{
        "limited by", "limiter",
        "The busiest resource, where it is busy 60 % of the time or more, else latency. It is a label "
        "from one run. run --why finds the limit by experiment: it runs again with more of each "
        "resource."},
    GlossaryEntry{
        "busy", "share of all cycles",
        "Counted work over what the resource could have done in the time of the run, over all SMs. It "
        "includes the time in which SMs had no work, so few CTAs lower every share."},
    GlossaryEntry{
        "per issue", "",
        "Warp cycles spent for a reason over instructions issued, as Nsight Compute has it: how long "
        "an instruction waits on average, and for what. The sum over all reasons is the time between "
        "two instructions of a warp."},
    GlossaryEntry{
        "compulsory", "compulsory bytes|minimum",
        "What must cross HBM in any case: every input read once, every output written once. It is a "
        "reference line, not counted by the model; the ratio beside it says how many times as much was "
        "moved."},
    GlossaryEntry{
        "read from L2", "L2 hits",
        "Bytes that SMs asked the L2 for, and the part of them that it had. A tensor with many hits "
        "is read often but crosses HBM seldom, as K and V in FlashAttention."},
    GlossaryEntry{
        "arithmetic intensity", "FLOP per byte",
        "Credited FLOPs per byte that crosses HBM. Below the GPU's ratio of FLOP/s to bandwidth, the "
        "memory is the limit; above it, arithmetic is. Fewer bytes raise it."},
    GlossaryEntry{
        "worth", "",
        "In run --why: the part of an improvement that reaches the time. 1 means that 10 % more of the "
        "resource makes the kernel 10 % faster; 0 that it does not matter."},
    GlossaryEntry{
        "±", "plus_minus|start phases",
        "Beside differences: the interval that holds 19 of 20 repetitions when CTAs start a few cycles "
        "earlier or later. A difference that is not larger is called none."},
    GlossaryEntry{"speed-up", "", "The time of the first row over the time of this one. 2 is twice as fast."},
    GlossaryEntry{"roofline", "",
                  "The most that a kernel can reach at its arithmetic intensity: the slope of the memory "
                  "bandwidth, then the flat peak of the pipes. A kernel far below both waits for latency."},
    GlossaryEntry{
        "fast mode", "mode|detailed mode",
        "--mode fast simulates some SMs and leaves out what repeats, and says how sure it is; --mode "
        "detailed steps every warp instruction on every SM. Both give the same results every time. Fast "
        "mode takes the numbers of instructions and of bytes asked of the L2 from the programs, exactly; "
        "everything else it counts and carries on."},
};

}  // namespace

std::span<const GlossaryEntry> report_entries() {
  return kEntries;
}

}  // namespace warpscope::experiments

// Words of papers on attention kernels.
#include <array>

#include "experiments/explain/glossary.hpp"

namespace warpscope::experiments {
namespace {

constexpr std::array kEntries = {
    GlossaryEntry{
        "tile", "tile shape|block|fa2_tile",
        "The rows of Q (and the rows of K and V) that a CTA works on at a time, as 128 x 64. Larger "
        "tiles read K and V less often and need more registers and shared memory, so that fewer CTAs "
        "fit an SM."},
    GlossaryEntry{
        "standard attention", "standard|standard_eager|naive attention",
        "Scores, softmax and the product with V as kernels of their own, with the scores written to "
        "HBM between them. Bytes grow with the square of the length. `standard` is with kernels fused "
        "where libraries fuse them, `standard_eager` one kernel per operation."},
    GlossaryEntry{
        "FlashAttention", "FA1|FA2|fa2_torch",
        "Attention in one kernel that never writes the scores: it goes through K and V in blocks and "
        "keeps a running maximum and sum per row. FA1 loops over key blocks outside and spills O "
        "between them; FA2 keeps a tile of queries and its O on the SM and loops over keys inside."},
    GlossaryEntry{
        "memory-efficient attention", "xformers|CUTLASS attention",
        "Attention in one kernel made of two CUTLASS products, as in xformers and PyTorch. O stays in "
        "registers as in FA2, but Q is read again for every block of keys, probabilities and row "
        "statistics go through shared memory, and a block of keys takes 14 to 18 barriers."},
    GlossaryEntry{
        "Triton attention", "triton|triton_seqpar|sequence_parallel",
        "triton.ops.flash_attention of July 2023, which the FlashAttention-2 paper compares with: a CTA per "
        "block of queries as in FA2, but a division by the row sum and a mask in every block of keys as in "
        "FA1. Backward, triton has a CTA per head; triton_seqpar, with sequence_parallel, one per block of "
        "keys, each with a dQ of its own in HBM that a last launch sums."},
    GlossaryEntry{
        "loop order", "Q stationary|O spill",
        "Which loop is outside. With queries outside (FA2), O stays in registers until it is done. "
        "With keys outside (FA1), a partial O goes to memory and back for each block of keys, which "
        "costs HBM or L2 bytes that grow with the square of the length."},
    GlossaryEntry{"mask at the edge", "mask_at_edge",
                  "Scores are masked only in blocks that the causal mask or the end of the keys cuts. FA1 "
                  "compares every score of every block: two instructions per score more."},
    GlossaryEntry{
        "skipped blocks", "skip_masked",
        "Key blocks that lie wholly beyond the causal mask are left out, half of all for long "
        "sequences. FA1 and FA2 both do it; standard attention computes them and throws them away."},
    GlossaryEntry{
        "longest first", "",
        "The order of CTAs under a causal mask. Those with the most key blocks start first, so that "
        "short ones fill the tail. FA2 starts with the shortest; fa2+longest_first shows what the "
        "other order brings."},
    GlossaryEntry{
        "split-Q", "",
        "Each warp of a CTA owns rows of queries and goes through all keys of the block, as in FA2. "
        "Warps need nothing from one another, so there are no reductions between them and few "
        "barriers."},
    GlossaryEntry{
        "sliced-K", "split-K",
        "Each warp of a CTA owns some of the keys of a block, as in FA1. Row maxima, sums and partial "
        "O then have to be exchanged through shared memory, which costs wavefronts and barriers. "
        "Split-Q avoids it."},
    GlossaryEntry{
        "grid of warps", "warp_grid",
        "Warps that share a matrix product stand in a grid over its result, as 4 x 2, so that each reads "
        "parts of both operands and other warps read the same. In a column, 8 x 1, each reads all of one "
        "operand. FA2's backward pass has grids, FA1's has columns; the wavefronts of shared memory differ."},
    GlossaryEntry{
        "split-KV", "num_splits|flash-decoding",
        "Several CTAs share the keys of one tile of queries, and a second kernel combines their "
        "results. It fills the GPU where there are few queries, as in decoding. `--num-splits auto` does "
        "what FlashAttention-2's library would, a number divides the keys into so many parts."},
    GlossaryEntry{
        "sliding window", "window|local attention",
        "Each query sees only keys near its own position. Key blocks outside are skipped, but every "
        "score of those inside passes a mask: two compares and a select."},
    GlossaryEntry{
        "softcap", "logit softcapping",
        "Scores become X tanh(score / X), so that none exceeds X. It costs a multiplication and one "
        "more operation of the XU pipe for every score."},
    GlossaryEntry{
        "ALiBi", "",
        "A slope of each head times the distance of key and query is taken from every score. It costs "
        "a multiply-add per score, and conversions to floating point of distances or columns."},
    GlossaryEntry{
        "variable-length batch", "seqlens|varlen|cu_seqlens",
        "Sequences of their own lengths lie one behind the other, without padding. The grid is that of the "
        "longest: CTAs behind the end of a shorter one read where it ends and leave. `--seqlens "
        "512,37,1024`."},
    GlossaryEntry{
        "dropout", "Philox",
        "Each weight becomes 0 with a probability, the others grow in return. FA2 draws 16 random bytes for "
        "every 16 weights of a thread, by 7 rounds of Philox: two wide products and two logic operations "
        "each, then shifts, permutations and compares."},
    GlossaryEntry{
        "paged KV cache", "page_size|block_table",
        "K and V lie in pages, which a table finds. Before every copy a thread divides its position by the "
        "size of a page, reads two entries of the table and computes where the next rows are."},
    GlossaryEntry{
        "deterministic mode", "deterministic",
        "FA2's CTAs for different keys add to the same dQ, in the order in which they come, so that its last "
        "bits differ from run to run. `--deterministic` gives each of as many CTAs per head as fill the SMs "
        "several key blocks and a copy of dQ of its own; the copies are zeroed before and added up after, "
        "which costs HBM bytes, and few CTAs of many blocks fill the SMs less evenly."},
    GlossaryEntry{
        "heads first", "layout",
        "Tensors may lie in memory as (batch, tokens, heads, head dimension), as `flash_attn_func` takes "
        "them, "
        "or, with `--heads-first`, as (batch, heads, tokens, head dimension), which is what a contiguous "
        "tensor for PyTorch's `scaled_dot_product_attention` is. It matters where a row is shorter than a "
        "line of "
        "128 bytes: heads of 32 and of 96 then share lines or do not."},
    GlossaryEntry{"table share", "table %|overhead of the build",
                  "Of the warp instructions that a kernel executes the part that was counted in a build of "
                  "it, by machine "
                  "code or hardware counters, and stands in tables: index arithmetic, moves and spills that "
                  "its text does "
                  "not show. `list kernels` has it; a kernel with little is the more likely to be right "
                  "where nothing was "
                  "counted."},
    GlossaryEntry{
        "sequence-length parallelism", "sequence parallelism|seq_parallel",
        "CTAs for different queries of the same head, not only for different heads. It fills the SMs "
        "where batch x heads is small and sequences are long. FA2 has it; FA1 splits a head over at "
        "most 30 CTAs, which all read all of K and V."},
    GlossaryEntry{
        "LSE", "log-sum-exp",
        "The logarithm of the sum of exponentials of a row, maximum included: one number per row that "
        "the backward pass needs. Keeping it instead of maximum and sum saves traffic of row vectors."},
    GlossaryEntry{
        "deferred normalisation", "deferred|deferred normalization|rescaling",
        "O is divided by the row sum once, at the end, and only rescaled by the change of the maximum "
        "before that. Dividing after every block, as FA1 does, costs non-matmul instructions for each "
        "block."},
    GlossaryEntry{
        "online softmax", "running maximum",
        "Softmax over blocks of a row: the maximum and the sum so far are corrected when a later block "
        "has a larger maximum. It makes attention in one pass possible, at the price of rescaling O."},
    GlossaryEntry{
        "non-matmul FLOP", "non-matmul",
        "A FLOP outside the matrix products: scaling, exponentials, sums, maxima, rescaling. The "
        "tensor pipe is many times as fast as the FMA pipe, so one of them costs as much time as many "
        "matmul FLOPs. `warpscope study non-matmul` measures how many."},
    GlossaryEntry{
        "causal", "causal mask|mask",
        "Queries see only keys up to their own position, counted from the end of both. Blocks beyond "
        "the mask are skipped, which halves the work; only blocks that it cuts need a mask. CTAs get "
        "unequal work, so a tail remains if the longest start last."},
    GlossaryEntry{
        "GQA", "MQA|grouped-query attention|heads_kv",
        "Several query heads share one head of K and V. It saves bytes of K and V, not FLOPs; with few "
        "heads of K and V they stay in the L2."},
    GlossaryEntry{
        "decode", "decoding",
        "Attention of one or few new queries against many keys. There is little arithmetic per byte, "
        "so HBM bandwidth is the limit if enough CTAs read at the same time."},
    GlossaryEntry{"head dimension", "d|head_dim",
                  "Numbers per query and key of a head, mostly 64 or 128. Matrix products grow with it and "
                  "softmax does not, so a larger one gives more matmul FLOPs per exponential."},
    GlossaryEntry{
        "ping-pong", "warp specialisation",
        "Two groups of warps in opposite phases, so that the softmax of one runs beside the matrix "
        "products of the other. FA3 arranges it on purpose; with two CTAs per SM some of it happens "
        "by itself."},
};

}  // namespace

std::span<const GlossaryEntry> attention_entries() {
  return kEntries;
}

}  // namespace warpscope::experiments

"""The points that the targets are about, as rows of a points file for `warpscope sweep`."""

import csv
from itertools import islice, product

GPUS = ["a100-sxm4-80gb", "h100-sxm5-80gb", "h200-sxm-141gb"]
COLUMNS = ["gpu", "kernel", "pass", "batch", "heads", "seqlen_q", "head_dim", "causal"]


def grid():
    """The grid of the FlashAttention-2 paper, 16k tokens and a hidden size of 2048, on three GPUs: 216 points."""
    lengths = [512, 1024, 2048, 4096, 8192, 16384]
    for gpu, head_dim, causal, length, kernel in product(
        GPUS, [64, 128], [0, 1], lengths, ["fa1", "fa2", "standard"]
    ):
        yield [gpu, kernel, "fwd", 16384 // length, 2048 // head_dim, length, head_dim, causal]


def mixed():
    """1000 different small points."""
    lengths = [128, 192, 256, 384, 512, 768, 1024]
    kernels = ["fa1", "fa2", "fa2_torch", "standard"]
    everything = product(lengths, [(1, 8), (2, 8), (1, 16)], GPUS, kernels, [64, 128], [0, 1])
    for length, (batch, heads), gpu, kernel, head_dim, causal in islice(everything, 1000):
        yield [gpu, kernel, "fwd", batch, heads, length, head_dim, causal]


def write(path, points):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        writer.writerows(points)

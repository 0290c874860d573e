"""How far fast mode is from detailed mode, on points that are drawn anew each time: shapes, GPUs and changes of them."""

import json
import random
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from point_lists import GPUS
from timed_run import RunFailed

KERNELS = ["fa2", "fa2_torch", "fa1", "standard"]
HEAD_DIMS = {"fa2": [32, 64, 96, 128, 256], "fa2_torch": [32, 64, 96, 128, 256],
             "fa1": [32, 64, 128], "standard": [64, 128]}
CHANGES = ["l2.capacity_bytes=20971520", "hbm.peak_gb_per_s=1000", "sm.xu.lanes=8", "sm.fma.lanes=16",
           "l2.hit_latency_cycles=400", "hbm.latency_ns=300", "sm.shared.bytes_per_clk=256", "l2.bytes_per_clk=2000",
           "gpu.sm_count=64", "sm.tensor.hmma_16816.interval_cycles=10"]
PART_CHANGED = 0.3
PART_BACKWARD = 0.25
# FLOPs of attention: less is executed whole in both modes, more takes detailed mode too long. What FA1 does besides
# takes as long again twice.
LEAST_FLOPS, MOST_FLOPS = 4e9, 2.2e11
MOST_FLOPS_OF_OTHERS = 0.3 * MOST_FLOPS
MOST_SCORES = 4e7  # standard attention passes over them many times


def draw(chance):
    """Arguments of `warpscope run` for one point."""
    while True:
        kernel = chance.choice(KERNELS)
        head_dim = chance.choice(HEAD_DIMS[kernel])
        batch, heads = chance.choice([1, 2, 3, 4, 8, 16]), chance.choice([1, 2, 4, 8, 12, 16, 32])
        seqlen = int(2 ** chance.uniform(7, 13))
        if chance.random() < 0.6:
            seqlen = max(128, seqlen // 128 * 128)
        causal = chance.random() < 0.45
        scores = batch * heads * seqlen * seqlen
        backward = chance.random() < PART_BACKWARD
        flops = 4 * scores * head_dim * (0.5 if causal else 1) * (2.5 if backward else 1)
        most = MOST_FLOPS if kernel.startswith("fa2") else MOST_FLOPS_OF_OTHERS
        if LEAST_FLOPS < flops < most and (kernel != "standard" or scores < MOST_SCORES):
            break
    arguments = ["--gpu", chance.choice(GPUS), "--kernel", kernel, "--batch", batch, "--heads", heads,
                 "--seqlen", seqlen, "--head-dim", head_dim]
    arguments += ["--causal"] if causal else []
    arguments += ["--pass", "bwd"] if backward else []
    arguments += ["--set", chance.choice(CHANGES)] if chance.random() < PART_CHANGED else []
    return [str(argument) for argument in arguments]


@dataclass
class Difference:
    """Of fast mode from detailed mode at one point, relative. `sampled`: not all of it was executed."""

    arguments: list
    cycles: float
    hbm_bytes: float
    within_stated: bool
    sampled: bool


class Refused(Exception):
    """A kernel lacks what the point asks for."""


def simulate(program, arguments, mode):
    command = [str(program), "run", *arguments, "--mode", mode, "-j", "1", "--json", "-", "--stats"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode == 2:
        raise Refused(result.stderr.strip())
    if result.returncode != 0:
        raise RunFailed(f"{' '.join(command)}: status {result.returncode}: {result.stderr.strip()[-200:]}")
    report = json.loads(result.stdout)
    stats = json.loads(result.stderr.strip().splitlines()[-1])
    metrics = report["metrics"]
    hbm_bytes = metrics["dram__bytes_read.sum"] + metrics["dram__bytes_write.sum"]
    return report["cycles"], hbm_bytes, 2 * stats["cycles_deviation"]


def compare(program, arguments, say):
    """None where the point is refused."""
    try:
        fast_cycles, fast_bytes, stated = simulate(program, arguments, "fast")
    except Refused as error:
        say(f"left out: {' '.join(arguments)}: {error}")
        return None
    cycles, hbm_bytes, _ = simulate(program, arguments, "detailed")
    return Difference(arguments, fast_cycles / cycles - 1, fast_bytes / hbm_bytes - 1,
                      abs(fast_cycles - cycles) <= stated, stated > 0)


def differences(program, points, seed, say):
    """Two points at a time."""
    chance = random.Random(seed)
    say(f"fast against detailed mode, {points} points drawn with seed {seed}; some minutes")
    drawn = [draw(chance) for _ in range(points)]
    with ThreadPoolExecutor(2) as pool:
        found = pool.map(lambda arguments: compare(program, arguments, say), drawn)
        simulated = [one for one in found if one is not None]
    if not simulated:
        raise RunFailed("all points are refused")
    return simulated


def rows(found):
    """What is measured, its limit, unit, whether it is a maximum, its figure and a note: where it is worst."""

    def worst(value):
        return max(found, key=lambda one: abs(value(one)))

    def mean(value, among=found):
        return 100 * sum(abs(value(one)) for one in among) / max(1, len(among))

    def of_pass(backward):
        among = [one for one in found if ("bwd" in one.arguments) == backward]
        return f"{len(among)} points {mean(lambda one: one.cycles, among):.2g} %"

    of_cycles, of_bytes = worst(lambda one: one.cycles), worst(lambda one: one.hbm_bytes)
    sampled = [one for one in found if one.sampled]
    within = 100 * sum(one.within_stated for one in found) / len(found)
    return [
        ("fast against detailed mode, cycles, mean", 0.5, "%", True, mean(lambda one: one.cycles),
         f"forward {of_pass(False)}, backward {of_pass(True)}; {len(sampled)} are sampled, these "
         f"{mean(lambda one: one.cycles, sampled):.2g} %; "
         f"worst {100 * of_cycles.cycles:+.1f} %: "
         + " ".join(of_cycles.arguments)),
        ("points within the stated range", 95, "%", False, within, ""),
        ("fast against detailed mode, HBM bytes, mean", 1, "%", True, mean(lambda one: one.hbm_bytes), ""),
        ("the same, worst", 6, "%", True, 100 * abs(of_bytes.hbm_bytes), " ".join(of_bytes.arguments)),
    ]

"""Runs the microbenchmarks of the hardware on the model, and sums up how far it is from what was measured."""

import re
import subprocess
from collections import defaultdict

from timed_run import RunFailed

NEAR = 5
# What is off by how much, in per cent: the mean, and the worst.
MEMORY_MEAN, MEMORY_WORST = 5, 15
DIFFERENCE = re.compile(r"([+-][\d.]+) %")
NUMBER = re.compile(r"(?<= )[\d.]+(?= )")


def report(program, *arguments):
    """Lines of one of the two reports that hold a difference: the name of their row, the numbers behind it, and the
    differences among them."""
    run = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
    if run.returncode != 0:
        raise RunFailed(run.stderr.strip() or f"{program} ended with {run.returncode}")
    for line in run.stdout.splitlines():
        differences = [float(value) for value in DIFFERENCE.findall(line)]
        if differences:
            yield line.split()[0], NUMBER.findall(line), differences


def memory_differences(microbenchmarks, loaded):
    """Differences by what was measured, each with the row's name."""
    groups = defaultdict(list)
    for name, _, (difference,) in microbenchmarks:
        if name.startswith(("red/", "stream/red/")):
            groups["atomics by size"].append((difference, name))
        elif name.startswith("stream/"):
            groups["bandwidth of streams"].append((difference, name))
        elif name.startswith(("cpasync/", "latency/")):
            groups["copies and loads out of the L2, latency"].append((difference, name))
    for name, _, differences in loaded:
        if name.startswith("dram/"):
            groups["loaded latency of HBM"].append((differences[0], name))
        elif name.startswith("l2/"):
            groups["loops over what the L2 holds, latency"].append((differences[0], name))
        kind = "writes alone" if name.startswith("writeonly/") else "reads, and reads with writes"
        groups[f"bandwidth, {kind}"].append((differences[-1], name))
    return groups


def rows(microbenchmark_report, loaded_latency_report):
    """What is measured, its limit, unit, whether it is a maximum, its figure and a note."""
    microbenchmarks = list(report(microbenchmark_report, "", "detailed"))
    near = sum(abs(float(model) / float(measured) - 1) <= NEAR / 100 for _, (measured, model, *_), _ in microbenchmarks)
    found = [(f"microbenchmarks within {NEAR} %", 90, "%", False, 100 * near / len(microbenchmarks),
              f"{near} of {len(microbenchmarks)}")]
    for what, differences in memory_differences(microbenchmarks, report(loaded_latency_report)).items():
        mean = sum(abs(difference) for difference, _ in differences) / len(differences)
        worst, name = max(differences, key=lambda row: abs(row[0]))
        found.append((f"{what}, mean difference", MEMORY_MEAN, "%", True, mean, f"{len(differences)} rows"))
        found.append(("the same, worst", MEMORY_WORST, "%", True, abs(worst), f"{worst:+.1f} %: {name}"))
    return found

"""Runs the benchmarks of the simulator itself, then measures it against its targets of speed, fast mode against
detailed mode, and detailed mode against microbenchmarks of the hardware. ./warpscope bench calls it."""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import hardware_rows
import mode_accuracy
from targets import Target, measure
from timed_run import RunFailed


def say(message):
    print(f"bench: {message}", file=sys.stderr, flush=True)


def run_suite(suite, folder, pattern):
    """Google Benchmark's suite; its table goes to standard output, its JSON into the folder."""
    json_file = folder / "benchmarks.json"
    command = [suite, f"--benchmark_out={json_file}", "--benchmark_out_format=json",
               "--benchmark_min_time=0.1", "--benchmark_repetitions=3",
               "--benchmark_enable_random_interleaving=true", "--benchmark_display_aggregates_only=true"]
    if pattern:
        command.append(f"--benchmark_filter={pattern}")
    say("running the benchmarks by turns; their table comes when all are done")
    if subprocess.run(command, check=False).returncode != 0:
        sys.exit("bench: the benchmarks failed")
    say(f"wrote {json_file}")


def print_row(cells):
    widths = [70, 12, 10, 12, 0]
    print("  ".join(cell.ljust(width) for cell, width in zip(cells, widths)).rstrip(), flush=True)


def measure_targets(program, folder, sweep_limit_s):
    """Prints each row of the table as soon as it is known."""
    load = os.getloadavg()[0]
    print(f"\n{os.cpu_count()} CPUs, load {load:.1f} before the first run; medians of wall times\n")
    print_row(["what", "target", "figure", "", ""])
    targets = []
    for target in measure(program, say, sweep_limit_s):
        print_row(target.row())
        targets.append(target.to_json())
    json_file = folder / "targets.json"
    content = {"cpus": os.cpu_count(), "load_before": load, "targets": targets}
    json_file.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    say(f"wrote {json_file}")


def measure_accuracy(program, folder, points, seed):
    """Fast mode against detailed mode, which is the reference."""
    try:
        found = mode_accuracy.differences(program, points, seed, say)
    except RunFailed as error:
        sys.exit(f"bench: {error}")
    print()
    print_row(["what", "target", "figure", "", ""])
    targets = []
    for what, limit, unit, at_most, figure, note in mode_accuracy.rows(found):
        targets.append(Target(what, limit, unit, at_most, figure, note=note))
        print_row(targets[-1].row())
    json_file = folder / "accuracy.json"
    content = {"seed": seed, "targets": [target.to_json() for target in targets], "points": [vars(one) for one in found]}
    json_file.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    say(f"wrote {json_file}")


def measure_hardware_rows(folder, microbenchmark_report, loaded_latency_report):
    """Detailed mode against what was measured on an H200."""
    say("running the microbenchmarks of the hardware on the model, some two minutes")
    try:
        found = hardware_rows.rows(microbenchmark_report, loaded_latency_report)
    except RunFailed as error:
        sys.exit(f"bench: {error}")
    print()
    print_row(["what", "target", "figure", "", ""])
    targets = [Target(what, limit, unit, at_most, figure, note=note) for what, limit, unit, at_most, figure, note in found]
    for target in targets:
        print_row(target.row())
    json_file = folder / "hardware.json"
    json_file.write_text(json.dumps([target.to_json() for target in targets], indent=2) + "\n", encoding="utf-8")
    say(f"wrote {json_file}")


def main():
    parser = argparse.ArgumentParser(prog="./warpscope bench", description=__doc__)
    parser.add_argument("--program", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--suite", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--microbenchmarks", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--loaded-latency", required=True, help=argparse.SUPPRESS)
    parser.add_argument("-o", "--output", type=Path, default="out/bench", metavar="DIR", help="where JSON goes")
    parser.add_argument("--only", choices=["suite", "targets", "accuracy", "hardware"],
                        help="one of the four parts")
    parser.add_argument("--filter", metavar="REGEX", help="benchmarks of the suite to run")
    parser.add_argument("--sweep-limit", type=float, default=150, metavar="SECONDS",
                        help="a sweep that takes longer is stopped (default 150)")
    parser.add_argument("--points", type=int, default=200, metavar="N",
                        help="points on which the modes are compared (default 200)")
    parser.add_argument("--seed", type=int, default=int(time.time()), metavar="S",
                        help="draws the points of another run once more (default: new ones)")
    arguments = parser.parse_args()
    try:
        arguments.output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        parser.error(f"{arguments.output}: {error.strerror}")
    if arguments.points < 1:
        parser.error(f"--points: {arguments.points} is not a number of points; at least 1")
    if arguments.only in (None, "suite"):
        run_suite(arguments.suite, arguments.output, arguments.filter)
    if arguments.only in (None, "targets"):
        measure_targets(arguments.program, arguments.output, arguments.sweep_limit)
    if arguments.only in (None, "accuracy"):
        measure_accuracy(arguments.program, arguments.output, arguments.points, arguments.seed)
    if arguments.only in (None, "hardware"):
        measure_hardware_rows(arguments.output, arguments.microbenchmarks, arguments.loaded_latency)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)

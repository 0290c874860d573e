"""Runs the benchmarks of the simulator itself, then measures it against its targets. ./warpscope bench calls it."""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

from targets import measure


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


def main():
    parser = argparse.ArgumentParser(prog="./warpscope bench", description=__doc__)
    parser.add_argument("--program", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--suite", required=True, help=argparse.SUPPRESS)
    parser.add_argument("-o", "--output", type=Path, default="out/bench", metavar="DIR", help="where JSON goes")
    parser.add_argument("--only", choices=["suite", "targets"], help="one of the two parts")
    parser.add_argument("--filter", metavar="REGEX", help="benchmarks of the suite to run")
    parser.add_argument("--sweep-limit", type=float, default=150, metavar="SECONDS",
                        help="a sweep that takes longer is stopped (default 150)")
    arguments = parser.parse_args()
    try:
        arguments.output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        parser.error(f"{arguments.output}: {error.strerror}")
    if arguments.only != "targets":
        run_suite(arguments.suite, arguments.output, arguments.filter)
    if arguments.only != "suite":
        measure_targets(arguments.program, arguments.output, arguments.sweep_limit)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)

#!/usr/bin/env python3
"""Compares a run of the benchmarks with the baseline by ratios of times within a run, which hold on any machine.

Exit status: 0 no ratio worsened by more than the tolerance, 1 some did, 2 bad input.
"""

import argparse
import json
import sys
from pathlib import Path

BASELINE = Path(__file__).with_name("baseline.json")
NANOSECONDS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}


class BadInput(Exception):
    """A file that cannot be used; the message is one line."""


class Parser(argparse.ArgumentParser):
    def error(self, message):
        raise BadInput(message)


def read_json(path):
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise BadInput(f"{path}: not a text file") from error
    except json.JSONDecodeError as error:
        raise BadInput(f"{path}:{error.lineno}: not JSON: {error.msg}") from error
    if not isinstance(content, dict):
        raise BadInput(f"{path}: not a JSON object")
    return content


class Run:
    """What Google Benchmark wrote: of several repetitions the fastest counts, as others only disturb."""

    def __init__(self, path):
        self.path = path
        content = read_json(path)
        self.context = content.get("context", {})
        self.times = {}
        self.item_times = {}
        try:
            for entry in content["benchmarks"]:
                if entry.get("run_type") != "aggregate" and not entry.get("error_occurred"):
                    self._add(entry)
        except (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError) as error:
            raise BadInput(f"{path}: not a result of the benchmarks ({error!r})") from error

    def _add(self, entry):
        name = entry.get("run_name", entry["name"])
        time = entry["cpu_time"] * NANOSECONDS[entry["time_unit"]]
        self.times[name] = min(time, self.times.get(name, time))
        if "items_per_second" in entry:
            time = 1e9 / entry["items_per_second"]
            self.item_times[name] = min(time, self.item_times.get(name, time))

    def ratio(self, definition):
        times = self.item_times if definition.get("per") == "item" else self.times
        for name in (definition["of"], definition["to"]):
            if times.get(name, 0) <= 0:
                raise BadInput(f"{self.path}: no result of {name}")
        return times[definition["of"]] / times[definition["to"]]


class Baseline:
    """Ratios that a run of some machine had, with the tolerance that each is granted."""

    def __init__(self, path):
        self.path = path
        self.content = read_json(path)
        try:
            self.tolerance = float(self.content["tolerance"])
            self.ratios = list(self.content["ratios"])
            for ratio in self.ratios:
                if float(ratio["value"]) <= 0:
                    raise ValueError(f"{ratio['name']}: {ratio['value']}")
                _ = ratio["of"], ratio["to"], float(ratio.get("tolerance", 0))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise BadInput(f"{path}: not a baseline ({error!r})") from error

    def update(self, run):
        """Takes values and the description of the machine from the run."""
        keys = ["processor", "num_cpus", "compiler", "model"]
        self.content["measured_on"] = {key: run.context[key] for key in keys if key in run.context}
        for ratio in self.ratios:
            ratio["value"] = float(f"{run.ratio(ratio):.4g}")
        try:
            Path(self.path).write_text(json.dumps(self.content, indent=2) + "\n", encoding="utf-8")
        except OSError as error:
            raise BadInput(f"{self.path}: {error.strerror}") from error


def compare(run, baseline, tolerance):
    """Prints a line for each ratio; returns how many worsened."""
    width = max((len(ratio["name"]) for ratio in baseline.ratios), default=0)
    worse = 0
    measured = [(definition, run.ratio(definition)) for definition in baseline.ratios]
    for definition, ratio in measured:
        change = ratio / definition["value"] - 1
        allowed = tolerance if tolerance is not None else definition.get("tolerance", baseline.tolerance)
        verdict = "ok"
        if change > allowed:
            verdict = f"worse: {definition['of']} slower, or {definition['to']} faster"
            worse += 1
        print(f"{definition['name']:<{width}}  {ratio:9.4g}  baseline {definition['value']:9.4g}"
              f"  {change:+7.1%} of {allowed:.0%}  {verdict}")
    return worse


def main():
    parser = Parser(prog="compare.py", description=__doc__.splitlines()[0])
    parser.add_argument("run", help="benchmarks.json of ./warpscope bench")
    parser.add_argument("baseline", nargs="?", default=BASELINE, help="default: the committed one")
    parser.add_argument("--tolerance", type=float, help="for every ratio, instead of the baseline's: 0.3 is 30 %%")
    parser.add_argument("--update", action="store_true", help="write the values of the run into the baseline")
    try:
        arguments = parser.parse_args()
        run = Run(arguments.run)
        baseline = Baseline(arguments.baseline)
        if arguments.update:
            baseline.update(run)
            return 0
        worse = compare(run, baseline, arguments.tolerance)
    except BadInput as error:
        print(f"compare.py: {error}", file=sys.stderr)
        return 2
    if worse:
        print(f"compare.py: {worse} of {len(baseline.ratios)} ratios worsened by more than their tolerance",
              file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

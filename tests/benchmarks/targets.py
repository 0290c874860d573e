"""Measures the program against the targets of its speed, the way people run it: whole processes, wall time."""

import statistics
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

import point_lists
from timed_run import RunFailed, RunTooLong, timed_run

POINT_REPEATS = 5
DETAILED_REPEATS = 3


@dataclass
class Target:
    """A figure and what it must reach. `figure` is None where it was not measured, and `note` says why; `above` is
    what the figure is known to exceed."""

    what: str
    limit: float
    unit: str
    at_most: bool
    figure: float | None = None
    above: float | None = None
    note: str = ""

    @property
    def verdict(self):
        if self.figure is not None:
            met = self.figure <= self.limit if self.at_most else self.figure >= self.limit
            return "met" if met else "missed"
        missed = self.above is not None and self.at_most and self.above >= self.limit
        return "missed" if missed else "not measured"

    def row(self):
        """For the table."""
        bound = f"{'<=' if self.at_most else '>='} {self.limit:g} {self.unit}"
        figure = "-"
        if self.figure is not None:
            figure = f"{self.figure:.3g} {self.unit}"
        elif self.above is not None:
            figure = f"> {self.above:g} {self.unit}"
        return [self.what, bound, figure, self.verdict, self.note]

    def to_json(self):
        return asdict(self) | {"verdict": self.verdict}


class Measurement:
    """Runs the program in a folder of its own and remembers the largest memory of all runs.

    Figures come with a note: the same in CPU time, which tells a slow program from a busy machine.
    """

    def __init__(self, program, folder, say, sweep_limit_s):
        self.program = program
        self.folder = Path(folder)
        self.say = say
        self.sweep_limit_s = sweep_limit_s
        self.peak_bytes = 0

    def run(self, *arguments, limit_s=600):
        try:
            result = timed_run([str(self.program), *map(str, arguments)], limit_s)
        except RunTooLong as error:
            self.peak_bytes = max(self.peak_bytes, error.peak_bytes)
            raise
        self.peak_bytes = max(self.peak_bytes, result.peak_bytes)
        return result

    def sweep(self, name, points, jobs):
        self.say(f"sweep of {len(points)} points, -j {jobs}")
        file = self.folder / f"{name}.csv"
        point_lists.write(file, points)
        output = self.folder / f"{name}-{jobs}.csv"
        return self.run("sweep", "--points", file, "-o", output, "-j", jobs, limit_s=self.sweep_limit_s)

    def grid_seconds(self):
        result = self.sweep("grid", list(point_lists.grid()), 2)
        return result.seconds, f"{result.cpu_seconds:.3g} s of CPU"

    def fa2(self, seqlen, *more, batch=1):
        return self.run(
            *("run", "--gpu", point_lists.GPUS[0], "--kernel", "fa2", "--pass", "fwd", "--batch", batch),
            *("--heads", 16, "--seqlen", seqlen, "--head-dim", 128, "--stats", *more),
        )

    def fa2_seconds(self, seqlen):
        """From the start of the process to its exit."""
        self.say(f"FA2, {seqlen} tokens")
        runs = [self.fa2(seqlen) for _ in range(POINT_REPEATS)]
        cpu_seconds = statistics.median(run.cpu_seconds for run in runs)
        return statistics.median(run.seconds for run in runs), f"{cpu_seconds:.3g} s of CPU"

    def growth(self, short, long):
        """How much longer the simulation of the longer one takes; by turns, as the machine may slow down meanwhile."""
        self.say(f"FA2, {short} and {long} tokens by turns")
        pairs = [(self.fa2(short), self.fa2(long)) for _ in range(POINT_REPEATS)]
        short_runs, long_runs = zip(*pairs)

        def ratio(seconds):
            return statistics.median(map(seconds, long_runs)) / statistics.median(map(seconds, short_runs))

        cpu_ratio = ratio(lambda run: run.cpu_seconds)
        return ratio(lambda run: run.stats()["wall_s"]), f"{cpu_ratio:.3g} x in CPU time, start to exit"

    def detailed_rate(self):
        """Million warp instructions per second on one core."""
        self.say("FA2, detailed mode")
        runs = [self.fa2(2048, "--mode", "detailed", "-j", 1, batch=2) for _ in range(DETAILED_REPEATS)]
        millions = runs[0].stats()["warp_instructions_total"] / 1e6
        cpu_seconds = statistics.median(run.cpu_seconds for run in runs)
        wall_seconds = statistics.median(run.stats()["wall_s"] for run in runs)
        return millions / wall_seconds, f"{millions / cpu_seconds:.3g} M per second of CPU"

    def threads(self):
        """How much faster two threads are than one, on one point."""
        self.say("FA2, detailed mode, one and two threads by turns")
        pairs = [[self.fa2(2048, "--mode", "detailed", "-j", jobs, batch=4).stats()["wall_s"] for jobs in (1, 2)]
                 for _ in range(DETAILED_REPEATS)]
        one, two = (statistics.median(seconds) for seconds in zip(*pairs))
        return one / two, f"{one:.3g} and {two:.3g} s"

    def speedup(self):
        points = list(point_lists.mixed())
        one, two = self.sweep("mixed", points, 1), self.sweep("mixed", points, 2)
        note = f"{one.seconds:.3g} and {two.seconds:.3g} s, {one.cpu_seconds:.3g} and {two.cpu_seconds:.3g} s of CPU"
        return one.seconds / two.seconds, note

    def peak_megabytes(self):
        return self.peak_bytes / 1e6, "all processes of a sweep together"


def measure(program, say, sweep_limit_s):
    """One target after the other; one whose run fails is not measured, and its note is the reason."""
    with tempfile.TemporaryDirectory(prefix="warpscope-bench-") as folder:
        runs = Measurement(program, folder, say, sweep_limit_s)
        rows = [
            ("fa1, fa2, standard; 512 to 16k; A100, H100, H200: 216 points, -j 2", 15, "s", True,
             runs.grid_seconds),
            ("one FA2 forward point, 16k tokens, head dimension 128, start to exit", 0.2, "s", True,
             lambda: runs.fa2_seconds(16384)),
            ("one FA2 forward point at 128k tokens, start to exit", 1, "s", True,
             lambda: runs.fa2_seconds(131072)),
            ("detailed mode, FA2 forward, warp instructions / s / core", 25, "M", False, runs.detailed_rate),
            ("detailed mode, two threads against one", 1.7, "x", False, runs.threads),
            ("64k against 8k tokens in one sequence (64x the work), fast mode", 4, "x", True,
             lambda: runs.growth(8192, 65536)),
            ("1000-point sweep of mixed sizes, -j 2 against -j 1", 1.8, "x", False, runs.speedup),
            ("peak memory of any of these", 500, "MB", True, runs.peak_megabytes),
        ]
        for what, limit, unit, at_most, figure in rows:
            target = Target(what, limit, unit, at_most)
            try:
                target.figure, target.note = figure()
            except RunTooLong as error:
                target.above = error.seconds if unit == "s" else None
                target.note = f"{error}; --sweep-limit gives sweeps more time"
            except RunFailed as error:
                target.note = str(error)
            yield target
    yield Target("./warpscope test, whole suite", 6, "minutes", True, note="not run here: time ./warpscope test")

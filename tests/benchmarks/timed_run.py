"""Runs a command and says how long it took, from start to exit, and how much memory it held, with its children."""

import json
import os
import signal
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path


class RunFailed(Exception):
    """A command that was to be timed did not succeed."""


class RunTooLong(RunFailed):
    """A command did not end within its time and was killed; `peak_bytes` is what it held until then."""

    def __init__(self, seconds):
        super().__init__(f"stopped after {seconds:g} s")
        self.seconds = seconds
        self.peak_bytes = 0


@dataclass
class TimedRun:
    seconds: float
    cpu_seconds: float
    peak_bytes: int
    stderr: str

    def stats(self):
        """What `warpscope run --stats` says of itself."""
        lines = [line for line in self.stderr.splitlines() if line.startswith("{")]
        if not lines:
            raise RunFailed(f"no line of statistics in: {self.stderr.strip()}")
        return json.loads(lines[-1])


def _tree(pid):
    """The process and all that descend from it."""
    yield pid
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in children.read_text().split():
            yield from _tree(int(child))


def _resident_bytes(pid):
    """Of all processes of the tree; pages that they share count for each."""
    page_bytes = os.sysconf("SC_PAGE_SIZE")
    total = 0
    try:
        for process in _tree(pid):
            total += int(Path(f"/proc/{process}/statm").read_text().split()[1]) * page_bytes
    except OSError:
        pass  # a process ended meanwhile
    return total


def _kill_tree(pid):
    for process in list(_tree(pid)):
        try:
            os.kill(process, signal.SIGKILL)
        except ProcessLookupError:
            pass  # it has ended


class _Sampler(threading.Thread):
    """Looks again and again how much memory a process and its children hold."""

    INTERVAL_S = 0.1

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.pid = pid
        self.peak_bytes = 0
        self.done = threading.Event()
        self.start()

    def run(self):
        while not self.done.wait(self.INTERVAL_S):
            self.peak_bytes = max(self.peak_bytes, _resident_bytes(self.pid))


def _wait(pid, limit_s):
    """Its status and what it used. It does not outlive the limit, nor this process if that is interrupted."""
    late = threading.Event()
    timer = threading.Timer(limit_s, lambda: (late.set(), _kill_tree(pid)))
    timer.start()
    try:
        _, status, usage = os.wait4(pid, 0)
    except BaseException:
        _kill_tree(pid)
        raise
    finally:
        timer.cancel()
    if late.is_set():
        raise RunTooLong(limit_s)
    return os.waitstatus_to_exitcode(status), usage


def timed_run(command, limit_s=600):
    """Raises RunFailed with the last line of standard error if the command fails, RunTooLong if it takes too long."""
    with tempfile.TemporaryFile() as stderr:
        start = time.perf_counter()
        try:
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=stderr)
        except OSError as error:
            raise RunFailed(f"{command[0]}: {error.strerror}") from error
        sampler = _Sampler(process.pid)
        try:
            process.returncode, usage = _wait(process.pid, limit_s)
        except RunTooLong as error:
            error.peak_bytes = sampler.peak_bytes
            raise
        finally:
            sampler.done.set()
        seconds = time.perf_counter() - start
        sampler.join()
        stderr.seek(0)
        said = stderr.read().decode(errors="replace")
    if process.returncode != 0:
        last = said.strip().splitlines()[-1:] or ["no message"]
        raise RunFailed(f"{' '.join(command)}: status {process.returncode}: {last[0]}")
    cpu_seconds = usage.ru_utime + usage.ru_stime
    return TimedRun(seconds, cpu_seconds, max(sampler.peak_bytes, usage.ru_maxrss * 1024), said)

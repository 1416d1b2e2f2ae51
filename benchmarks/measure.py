"""One process, measured: wall time, processor time, peak memory; stopped when it takes too long or too much.

The measuring process must stay small: the system counts what it held when it started the other one as that one's peak.
Nothing here imports numpy.
"""

from __future__ import annotations

import math
import os
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

PAUSE = 0.02
CHECKOUT = {"PYTHONPATH": os.pathsep.join(str(Path(__file__).parents[1] / part) for part in ("", "src"))}
"""The environment of a child that is to import this checkout, not what is installed."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a process may use: seconds, bytes of resident memory, and seconds of processor time."""

    seconds: float = 300.0
    memory: int = 6 << 30
    processor: float = math.inf


@dataclass(frozen=True, slots=True)
class Run:
    """How a process ended (`ok`, `failed`, `timeout`, `memory`), and what it used and said."""

    status: str
    wall: float
    cpu: float
    memory: int
    output: str
    errors: str


def measure(command: Sequence[str], bounds: Bounds, environment: Mapping[str, str] | None = None) -> Run:
    """Run a command to its end or to its bounds."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        start = time.perf_counter()
        process = subprocess.Popen(
            list(command),
            stdout=output,
            stderr=errors,
            stdin=subprocess.DEVNULL,
            env={**os.environ, **(environment or {})},
        )
        status = ""
        try:
            while True:
                pid, code, usage = os.wait4(process.pid, os.WNOHANG)
                if pid:
                    break
                exceeded = _exceeded(process.pid, time.perf_counter() - start, bounds)
                if exceeded and not status:
                    status = exceeded
                    process.kill()
                time.sleep(PAUSE if time.perf_counter() - start > 1 else PAUSE / 20)
        except BaseException:
            process.kill()
            process.wait()
            raise
        wall = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(code)
        output.seek(0)
        errors.seek(0)
        return Run(
            status or ("ok" if code == 0 else "failed"),
            wall,
            usage.ru_utime + usage.ru_stime,
            usage.ru_maxrss * 1024,
            output.read().decode(errors="replace"),
            errors.read().decode(errors="replace"),
        )


def _exceeded(pid: int, seconds: float, bounds: Bounds) -> str:
    if seconds > bounds.seconds or (seconds > bounds.processor and processor(pid) > bounds.processor):
        return "timeout"
    return "memory" if resident(pid) > bounds.memory else ""


def processor(pid: int) -> float:
    """Return the seconds of processor time that a process has taken; 0 where the system does not tell."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except (OSError, IndexError):
        return 0.0


def resident(pid: int) -> int:
    """Return the bytes of memory that a process holds now; 0 where the system does not tell."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError):
        return 0

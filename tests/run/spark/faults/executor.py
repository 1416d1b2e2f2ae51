"""An executor is killed by its process id between two updates: each row has a second keeper."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from tests.generate.pipeline import answers, plan_text
from tidelog.run.contract import Change
from tidelog.run.reference.engine import ReferenceEngine
from tidelog.run.spark.engine import SparkEngine
from tidelog.run.spark.session import start_session

PROGRAM = """
input relation E(a: u32, b: u32)
output relation S(a: u32, b: u32)
S(x, y) :- E(p, x), E(p, y), x != y.
S(x, y) :- E(a, x), S(a, b), E(b, y).
"""
SETTINGS = {
    "spark.master": "local-cluster[2,1,1024]",
    "spark.driver.memory": "1g",
    "spark.shuffle.io.maxRetries": "1",  # nobody answers for the one that is gone
    "spark.shuffle.io.retryWait": "1s",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}
EDGES = [(n, 2 * n + k) for n in range(1, 8) for k in (0, 1)]


def executors() -> Iterator[int]:
    """The processes of executors that descend from this one."""
    parents: dict[int, int] = {}
    found: list[int] = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(folder.name)] = int((folder / "stat").read_text().rsplit(")", 1)[1].split()[1])
            command = (folder / "cmdline").read_bytes()
        except OSError:
            continue
        if b"CoarseGrainedExecutorBackend" in command and b"java" in command.split(b"\0")[0]:
            found.append(int(folder.name))
    for process in found:
        above = process
        while above in parents and above != os.getpid():
            above = parents[above]
        if above == os.getpid():
            yield process


def kill_one() -> None:
    """Kill an executor as the system would, without a word."""
    process = next(executors())
    os.kill(process, signal.SIGKILL)
    sys.stdout.write(f"killed executor {process}\n")


if __name__ == "__main__":
    spark = start_session(settings=SETTINGS)
    while spark.sparkContext._jsc.sc().getExecutorMemoryStatus().size() < 3:  # the driver and two keepers
        time.sleep(0.2)
    engine = SparkEngine(plan_text(PROGRAM), spark=spark, driver_rows=0, replicate_rows=0, partitions=2)
    reference = ReferenceEngine(plan_text(PROGRAM))
    for number, change in enumerate((Change(EDGES), Change([(3, 40)], [(2, 5)]), Change([(2, 5)], [(1, 3)]))):
        if number == 1:
            kill_one()
        engine.update({"E": change})
        reference.update({"E": change})
        assert answers(engine)["S"] == answers(reference)["S"], number
    sys.stdout.write("right after an executor was killed\n")
    spark.stop()

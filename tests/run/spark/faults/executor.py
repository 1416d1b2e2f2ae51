"""Executors are killed by their process ids, between updates and while they run, one by one and both at once.

Before that tasks fail as in `tasks`, in executors of their own. The updates are those of the round loop; after them one
executor is killed while a stratum is evaluated by partitions, and one while another evaluates all strata.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Timer

from pyspark.sql import SparkSession

from tests.generate.pipeline import answers, plan_text
from tests.run.spark.conftest import TINY
from tests.run.spark.faults.tasks import play
from tidelog.run import limits
from tidelog.run.contract.engine import Delta
from tidelog.run.limits import Progress
from tidelog.run.reference.engine import ReferenceEngine
from tidelog.run.spark.cluster.session import start_session
from tidelog.run.spark.engine import SparkEngine

PROGRAM = """
input relation E(a: u32, b: u32)
output relation S(a: u32, b: u32)
S(x, y) :- E(p, x), E(p, y), x != y.
S(x, y) :- E(a, x), S(a, b), E(b, y).
"""
SETTINGS = TINY | {
    "spark.master": "local-cluster[2,1,1024]",
    "spark.driver.memory": "1g",
    "spark.shuffle.io.maxRetries": "1",  # nobody answers for the one that is gone
    "spark.shuffle.io.retryWait": "1s",
    "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}
EDGES = [(n, 2 * n + k) for n in range(1, 4) for k in (0, 1)]


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


def kill(count: int) -> None:
    """Kill executors as the system would, without a word; the oldest first."""
    while len(found := sorted(executors())) < 2:
        time.sleep(0.1)
    for process in found[:count]:
        os.kill(process, signal.SIGKILL)
        sys.stdout.write(f"killed executor {process}\n")


def kill_in_round_two(count: int) -> Callable[[Progress], None]:
    """Return an observer that kills executors a moment after the second round of an update has begun."""
    waiting = [count] if count else []

    def look(progress: Progress) -> None:
        if progress.remark:
            sys.stdout.write(f"{progress.remark}\n")
        if progress.round == 2 and waiting:
            Timer(0.1, kill, (waiting.pop(),)).start()

    return look


def kill_when_told(remark: str) -> Callable[[Progress], None]:
    """Return an observer that kills an executor a moment after an evaluation has begun of which this is said."""
    waiting = [1]

    def look(progress: Progress) -> None:
        if remark in progress.remark and waiting:
            Timer(0.3, kill, (waiting.pop(),)).start()

    return look


def load(spark: SparkSession, way: str, rows: int) -> None:
    """Evaluate a program one way while an executor is killed, and then a change of its facts."""
    session = spark.newSession()
    session.conf.set("spark.tidelog.wholeRows", str(rows))
    engine = SparkEngine(plan_text(PROGRAM), spark=session, driver_rows=0, partitions=2)
    reference = ReferenceEngine(plan_text(PROGRAM))
    limits.observer.set(kill_when_told(way))
    for change in (Delta([(n, 2 * n + k) for n in range(1, 16) for k in (0, 1)]), Delta([(4, 40)], [(3, 7)])):
        update, expected = engine.update({"E": change}), reference.update({"E": change})
        assert [work.strategy for work in update.work] == [way]
        assert set(update.changes["S"].inserted) == set(expected.changes["S"].inserted), way
        assert set(update.changes["S"].deleted) == set(expected.changes["S"].deleted), way
        assert answers(engine)["S"] == answers(reference)["S"], way
    sys.stdout.write(f"right after one was killed while a load was {way}\n")


STEPS = (
    ("the first evaluation", Delta(EDGES), 0, 0),
    ("one was killed while an update ran", Delta([(3, 40)], [(2, 5)]), 0, 1),
    ("the other was killed later", Delta([(2, 5)]), 1, 0),
    ("both were killed while an update ran", Delta([(4, 9)], [(3, 7)]), 0, 2),
)

if __name__ == "__main__":
    limits.INTERVAL = 0.0  # every round is reported
    spark = start_session(settings=SETTINGS)
    while spark.sparkContext._jsc.sc().getExecutorMemoryStatus().size() < 3:  # the driver and two keepers
        time.sleep(0.2)
    engine = SparkEngine(plan_text(PROGRAM), spark=spark, driver_rows=0, replicate_rows=0, partitions=2)
    reference = ReferenceEngine(plan_text(PROGRAM))
    for kind in ("raises", "exits"):
        play(spark, Path(sys.argv[1]), kind)
    for name, change, before, during in STEPS:
        kill(before)
        limits.observer.set(kill_in_round_two(during))
        update, expected = engine.update({"E": change}), reference.update({"E": change})
        assert set(update.changes["S"].inserted) == set(expected.changes["S"].inserted), name
        assert set(update.changes["S"].deleted) == set(expected.changes["S"].deleted), name
        assert answers(engine)["S"] == answers(reference)["S"], name
        assert engine.verify() == [], name
        sys.stdout.write(f"right after {name}\n")
    load(spark, "exchanging", 0)
    load(spark, "one partition", 1000)
    spark.stop()

"""Extern functions that fail the first time they are called: by an exception, and by ending the Python worker."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from pyspark.sql import SparkSession

from tests.generate.pipeline import answers
from tests.run.spark.conftest import TINY
from tests.run.spark.faults.memory import SMALL, outgrow
from tidelog import Database
from tidelog.base.extern import Externs
from tidelog.run.contract.engine import Delta
from tidelog.run.spark.cluster.session import start_session
from tidelog.run.spark.engine import SparkEngine
from tidelog.session.database import plan_of

PROGRAM = """
extern function careful(x: u32): u32
input relation E(a: u32, b: u32)
output relation T(a: u32, b: u32)
T(careful(x), y) :- E(x, y).
T(x, z) :- T(x, y), E(y, z).
output relation Twice(a: u32)
Twice(careful(x)) :- T(x, x).
"""
EDGES = [(n, (n + 1) % 9) for n in range(9)] + [(20, 21), (21, 3)]


def play(spark: SparkSession, folder: Path, how: str) -> None:
    """Evaluate and update a program, one of whose functions fails `how` in the first task that calls it."""

    def careful(x: int) -> int:
        try:
            (folder / how).touch(exist_ok=False)
        except FileExistsError:
            return x
        if how == "raises":
            raise OSError("the disk is away")
        os._exit(7)

    failing, calm = Externs(), Externs()
    failing.register("careful")(careful)
    calm.register("careful")(lambda x: x)
    oracle = Database(PROGRAM, engine="reference", externs=calm)
    plan = plan_of(Database(PROGRAM, externs=failing))
    engine = SparkEngine(plan, spark=spark, driver_rows=0, partitions=2)
    for change in (Delta(EDGES), Delta([(2, 20)], [(4, 5)])):
        engine.update({"E": change})
        with oracle.transaction() as tx:
            tx.insert("E", list(change.inserted))
            tx.delete("E", list(change.deleted))
        found = answers(engine)
        for name in ("T", "Twice"):
            assert found[name] == frozenset(oracle.relation(name).rows()), name
    assert (folder / how).exists(), "nothing failed"
    sys.stdout.write(f"right after a task {how}\n")


if __name__ == "__main__":
    session = start_session("2,4", TINY | SMALL)
    for kind in ("raises", "exits"):
        play(session, Path(sys.argv[1]), kind)
    outgrow(session)
    session.stop()

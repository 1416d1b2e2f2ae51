"""A state that is larger than the memory for it: the rest is on disk, and the answers are right.

It is also larger than all that a job may send to the driver, so an update that lets its tuples pass there would fail.
"""

from __future__ import annotations

import sys

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as f

from tests.generate.pipeline import plan_text
from tidelog.run.columnar.engine import ColumnarEngine
from tidelog.run.contract.engine import Delta
from tidelog.run.spark.engine import SparkEngine

SMALL = {"spark.driver.memory": "1g", "spark.memory.fraction": "0.02", "spark.driver.maxResultSize": "1m"}
"""Little memory for state and work, and little that goes to the driver, so that the state below does not fit there."""
PROGRAM = """
input relation E(a: u32, b: u32)
output relation T(a: u32, b: u32)
T(x, y) :- E(x, y).
T(x, z) :- T(x, y), E(y, z).
"""
NODES = 1400
PIECES = 66
"""The state is read in so many, each small enough for the driver."""
LEAST = 1_000_000
"""Bytes on disk, where rows are compressed."""


def outgrow(spark: SparkSession) -> None:
    """Evaluate and update a closure of two million tuples."""
    plan = plan_text(PROGRAM)
    engine, columnar = SparkEngine(plan, spark=spark, driver_rows=0, partitions=8), ColumnarEngine(plan)
    ring = Delta([(n, (n + 1) % NODES) for n in range(NODES)])
    for change in (ring, Delta((), [(7, 8)])):
        update, expected = engine.update({"E": change}), columnar.update({"E": change})
        found, right = update.changes["T"], expected.changes["T"]
        assert (len(found.inserted), len(found.deleted)) == (len(right.inserted), len(right.deleted))
        assert read(engine) == set(columnar.rows("T"))
        held = spark.sparkContext._jsc.sc().getRDDStorageInfo()
        memory, disk = sum(one.memSize() for one in held), sum(one.diskSize() for one in held)
        assert disk > LEAST, f"{memory} bytes in memory and only {disk} on disk"
    with pytest.raises(Exception, match="maxResultSize"):
        list(engine.rows("T"))
    sys.stdout.write("right with state on disk\n")


def read(engine: SparkEngine) -> set[tuple[int, ...]]:
    """Return the tuples of T, brought to the driver in pieces."""
    rows, key = engine.frame("T"), f.col("a") % PIECES
    return {tuple(row) for piece in range(PIECES) for row in rows.where(key == piece).collect()}

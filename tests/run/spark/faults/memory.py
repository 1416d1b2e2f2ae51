"""A state that is larger than the memory for it: the rest is on disk, and the answers are right."""

from __future__ import annotations

import sys

from pyspark.sql import SparkSession

from tests.generate.pipeline import plan_text
from tidelog.run.columnar.engine import ColumnarEngine
from tidelog.run.contract import Change
from tidelog.run.spark.engine import SparkEngine

SMALL = {"spark.driver.memory": "1g", "spark.memory.fraction": "0.02"}
"""Little memory for state and work, so that the state below does not fit into it."""
PROGRAM = """
input relation E(a: u32, b: u32)
output relation T(a: u32, b: u32)
T(x, y) :- E(x, y).
T(x, z) :- T(x, y), E(y, z).
"""
NODES = 600
LEAST = 1_000_000
"""Bytes on disk, where rows are compressed."""


def outgrow(spark: SparkSession) -> None:
    """Evaluate and update a closure of 360,000 tuples."""
    plan = plan_text(PROGRAM)
    engine, columnar = SparkEngine(plan, spark=spark, driver_rows=0, partitions=8), ColumnarEngine(plan)
    ring = Change([(n, (n + 1) % NODES) for n in range(NODES)])
    for change in (ring, Change((), [(7, 8)])):
        update, expected = engine.update({"E": change}), columnar.update({"E": change})
        found, right = update.changes["T"], expected.changes["T"]
        assert (len(found.inserted), len(found.deleted)) == (len(right.inserted), len(right.deleted))
        assert set(engine.rows("T")) == set(columnar.rows("T"))
        held = spark.sparkContext._jsc.sc().getRDDStorageInfo()
        memory, disk = sum(one.memSize() for one in held), sum(one.diskSize() for one in held)
        assert disk > LEAST, f"{memory} bytes in memory and only {disk} on disk"
    sys.stdout.write("right with state on disk\n")

"""The lanes on Spark: a program by a way, on a folder of facts; says as JSON how long each part took.

    python -m benchmarks.race_spark WAY PROGRAM FOLDER REPEATS

| way | what |
| --- | --- |
| spark | Tidelog's engine, free to choose |
| executors | Tidelog's engine with nothing evaluated on the driver |
| loop | Tidelog's engine by its round loop alone: no decomposed job either |
| textbook | a loop over DataFrames: join, distinct, left anti join, checkpoint, count; Spark's own settings |
| cte | Spark's recursive common table expression, its limits lifted |

Starting Spark is not counted, nor is reading the files. `cold` is the first evaluation, `evaluate` the best.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from benchmarks.race_tidelog import planned
from tidelog.run.contract import Change, Rows
from tidelog.run.spark.engine import SparkEngine
from tidelog.run.spark.session import start_session
from tidelog.session.files import read_facts
from tidelog.session.plain import Plain

MEMORY = "4g"
ENOUGH = 60.0
ENGINE: dict[str, dict[str, int]] = {
    "spark": {},
    "executors": {"driver_rows": 0},
    "loop": {"driver_rows": 0, "replicate_rows": 0},
}
Frames = dict[str, DataFrame]
Step = Callable[[DataFrame, DataFrame, Frames], DataFrame]
"""From the delta, all tuples and the facts to candidates for new tuples."""


def start(way: str) -> SparkSession:
    """Return a session: the engine's, or one with Spark's own settings."""
    if way in ENGINE:
        return start_session(2, {"spark.driver.memory": MEMORY})
    return start_session(2, {"spark.driver.memory": MEMORY, "spark.sql.shuffle.partitions": "4"})


# --- the textbook's loops ---------------------------------------------------------------------------------------------


def close(delta: DataFrame, _: DataFrame, facts: Frames) -> DataFrame:
    """Continue paths by an edge."""
    edge = facts["Edge"].select(f.col("a").alias("b"), f.col("b").alias("c"))
    return delta.join(edge, "b").select("a", f.col("c").alias("b"))


def same(delta: DataFrame, _: DataFrame, facts: Frames) -> DataFrame:
    """Go down by an edge on both sides."""
    left = facts["Edge"].select("a", f.col("b").alias("x"))
    right = facts["Edge"].select(f.col("a").alias("b"), f.col("b").alias("y"))
    return delta.join(left, "a").join(right, "b").select(f.col("x").alias("a"), f.col("y").alias("b"))


def entail(delta: DataFrame, known: DataFrame, _: Frames) -> DataFrame:
    """Apply the RDFS rules with a new triple on either side."""
    found = [_entailed(delta, known), _entailed(known, delta)]
    return found[0].union(found[1])


def _entailed(data: DataFrame, schema: DataFrame) -> DataFrame:
    def said(number: int) -> DataFrame:
        return schema.where(f.col("p") == number).select(f.col("s").alias("k"), f.col("o").alias("v"))

    def through(rows: DataFrame, key: str, number: int) -> DataFrame:
        return rows.withColumn("k", f.col(key)).join(said(number), "k")

    subject, middle, thing = (f.col(name) for name in ("s", "p", "o"))
    kind, value = f.lit(4).alias("p"), f.col("v").alias("o")
    closed = [
        through(data.where(middle == number), "o", number).select(subject, f.lit(number).alias("p"), value)
        for number in (0, 1)
    ]
    return (
        closed[0]
        .union(closed[1])
        .union(through(data, "p", 2).select(subject, kind, value))
        .union(through(data, "p", 3).select(thing.alias("s"), kind, value))
        .union(through(data.where(middle == 4), "o", 0).select(subject, kind, value))
        .union(through(data, "p", 1).select(subject, f.col("v").alias("p"), thing))
    )


def textbook(first: DataFrame, step: Step, facts: Frames) -> tuple[int, int]:
    """Repeat a step until it finds nothing; return the number of tuples, and of rounds."""
    known = delta = first.distinct().localCheckpoint()
    total, rounds = delta.count(), 1
    while True:
        new = step(delta, known, facts).distinct().join(known, known.columns, "left_anti").localCheckpoint()
        found = new.count()
        rounds += 1
        if not found:
            return total, rounds
        total += found
        known = known.union(new)
        delta = new


def propagate(facts: Frames) -> tuple[int, int]:
    """Give every node the least label of its neighbours until none changes; return the number of nodes, and rounds."""
    edge = facts["Edge"]
    link = edge.union(edge.select(f.col("b").alias("a"), f.col("a").alias("b"))).distinct().localCheckpoint()
    labels = link.select("a", f.col("a").alias("least")).distinct().localCheckpoint()
    rounds = 1
    while True:
        near = link.join(labels.withColumnRenamed("a", "b"), "b").select("a", "least").union(labels)
        new = near.groupBy("a").agg(f.min("least").alias("least")).localCheckpoint()
        rounds += 1
        changed = new.join(labels.withColumnRenamed("least", "before"), "a").where("least < before").count()
        labels = new
        if not changed:
            return labels.count(), rounds


def run_textbook(program: str, facts: Frames) -> dict[str, Any]:
    """Evaluate a program as a textbook would."""
    match program:
        case "sg":
            edge = facts["Edge"]
            other = edge.withColumnRenamed("b", "c")
            base = edge.join(other, "a").where("b != c").select(f.col("b").alias("a"), f.col("c").alias("b"))
            name, (size, rounds) = "Same", textbook(base, same, facts)
        case "rdfs":
            name, (size, rounds) = "T", textbook(facts["Triple"], entail, facts)
        case "cc":
            name, (size, rounds) = "Component", propagate(facts)
        case _:
            name, (size, rounds) = "Path", textbook(facts["Edge"], close, facts)
    return {"sizes": {name: size}, "rounds": rounds}


# --- the other lanes --------------------------------------------------------------------------------------------------


def run_cte(spark: SparkSession, program: str, facts: Frames) -> dict[str, Any]:
    """Evaluate a closure by Spark's recursive common table expression, which knows no sets: it may never end."""
    if not program.startswith("tc"):
        raise SystemExit("not expressible")
    facts["Edge"].createOrReplaceTempView("edge")
    spark.conf.set("spark.sql.cteRecursionLevelLimit", "-1")
    spark.conf.set("spark.sql.cteRecursionRowLimit", "-1")
    found = spark.sql(
        "WITH RECURSIVE path(a, b) AS (SELECT a, b FROM edge UNION ALL SELECT path.a, edge.b FROM path JOIN edge ON "
        "path.b = edge.a) SELECT COUNT(*) FROM (SELECT DISTINCT a, b FROM path)"
    )
    return {"sizes": {"Path": found.collect()[0][0]}}


def run_engine(spark: SparkSession, way: str, program: Path, facts: dict[str, Rows]) -> dict[str, Any]:
    """Evaluate a program by Tidelog's engine."""
    plan = planned(program)
    engine = SparkEngine(plan, spark=spark, strategy="recompute", **ENGINE[way])  # type: ignore[arg-type]
    update = engine.update({name: Change(rows) for name, rows in facts.items()})
    return {
        "sizes": {name: engine.count(name) for name, found in plan.relations.items() if found.role == "output"},
        "rounds": sum(work.rounds for work in update.work),
        "strategies": sorted({work.strategy for work in update.work}),
    }


def main() -> None:
    way, given, folder, repeats = sys.argv[1:]
    program = Path(given)
    plan = planned(program)
    wall = time.perf_counter()
    facts = dict(read_facts(Path(folder), plan.relations, Plain(plan.types)).rows)
    load = time.perf_counter() - wall
    spark = start(way)
    frames: Frames = {}
    if way in ("textbook", "cte"):
        for name, rows in facts.items():
            names = [column.name for column in plan.relations[name].columns]
            frame = spark.createDataFrame([tuple(row) for row in rows], ", ".join(f"{n} long" for n in names))
            frames[name] = frame.localCheckpoint()
    runs: list[dict[str, Any]] = []
    while len(runs) < int(repeats) and sum(run["evaluate"] for run in runs) < ENOUGH:
        wall = time.perf_counter()
        match way:
            case "textbook":
                run = run_textbook(program.stem, frames)
            case "cte":
                run = run_cte(spark, program.stem, frames)
            case _:
                run = run_engine(spark, way, program, facts)
        runs.append({**run, "evaluate": time.perf_counter() - wall})
    best = min(runs, key=lambda run: float(run["evaluate"]))
    print(json.dumps({**best, "load": load, "cold": runs[0]["evaluate"]}))


if __name__ == "__main__":
    main()
